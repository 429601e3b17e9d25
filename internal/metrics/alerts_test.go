package metrics

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"proxyward/internal/testenv"
)

const configDir = "../../configs"

// alert is one rule of configs/alerts.yaml.
type alert struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var f struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal([]byte(read(t, configDir, "alerts.yaml")), &f); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, g := range f.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) < 12 {
		t.Fatalf("%d alerts", len(all))
	}
	return all
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAlertsFireWhenTheyShould(t *testing.T) {
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.Command(testenv.Program(t, "promtool"), args...)
		cmd.Dir = configDir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

func TestEveryAlertIsTested(t *testing.T) {
	tests := read(t, configDir, "alerts_test.yaml")
	for _, a := range alerts(t) {
		fires := regexp.MustCompile(`alertname: ` + a.Alert + `\n +exp_alerts:`)
		if !fires.MatchString(tests) {
			t.Errorf("no test has %s fire", a.Alert)
		}
	}
}

func TestEveryAlertHasItsChapterInTheRunbook(t *testing.T) {
	book := read(t, "../../docs", "runbook.md")
	var chapters []string
	for line := range strings.Lines(book) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "## Proxyward"); is {
			chapters = append(chapters, "Proxyward"+name)
		}
	}
	var names []string
	for _, a := range alerts(t) {
		names = append(names, a.Alert)
		if want := "docs/runbook.md#" + strings.ToLower(a.Alert); a.Annotations["runbook"] != want || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s: annotations %v, want a summary, a description and runbook %s", a.Alert, a.Annotations, want)
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) {
			t.Errorf("%s: severity %q", a.Alert, a.Labels["severity"])
		}
	}
	if !slices.Equal(chapters, names) {
		t.Errorf("the runbook has\n%v, the alerts are\n%v", chapters, names)
	}
}

func TestAlertsNameMetricsAndLabelsThatExist(t *testing.T) {
	named := regexp.MustCompile(prefix + `(\w+)(\{[^}]*\})?`)
	label := regexp.MustCompile(`(\w+)=~?`)
	for _, a := range alerts(t) {
		found := named.FindAllStringSubmatch(a.Expr+a.Annotations["description"], -1)
		if len(found) == 0 {
			t.Errorf("%s names none of our metrics", a.Alert)
		}
		for _, m := range found {
			at := slices.IndexFunc(families, func(f family) bool { return f.name == m[1] })
			if at < 0 {
				t.Errorf("%s: no metric %s", a.Alert, m[0])
				continue
			}
			for _, l := range label.FindAllStringSubmatch(m[2], -1) {
				if l[1] != "job" && !slices.Contains(families[at].labels, l[1]) {
					t.Errorf("%s: %s has no label %s", a.Alert, m[1], l[1])
				}
			}
		}
	}
}
