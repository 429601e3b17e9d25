package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// firing are the descriptions of the alerts that fire in a Prometheus, by job and name.
func firing(t *testing.T, at string) map[string]string {
	resp, err := http.Get("http://" + at + "/api/v1/alerts")
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var all struct {
		Data struct {
			Alerts []struct {
				State               string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Error(err)
	}
	found := map[string]string{}
	for _, a := range all.Data.Alerts {
		if a.State == "firing" {
			found[a.Labels["job"]+" "+a.Labels["alertname"]] = a.Annotations["description"]
		}
	}
	return found
}

// asked is what a Prometheus answers to a query.
func asked(at, query string) string {
	resp, err := http.Get("http://" + at + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}

// In each outage of the drill the alert fires and names who is to blame, and it is over when
// the outage is. Only the rules' waiting times are shortened.
func TestAlertsOfAnOutageNameTheCulprit(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../configs/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules := file(t, "alerts.yaml", regexp.MustCompile(`for: \d+m`).ReplaceAllString(string(text), "for: 1s"))
	culprits := []string{"target (", "target (", "target", "the way to the proxies, or all of them (connect.timeout)"}
	var drills []*drill
	config := "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [\"" + rules + "\"]\nscrape_configs:\n"
	for i := range failing {
		d := newDrill(t, 12)
		drills = append(drills, d)
		config += fmt.Sprintf("  - {job_name: \"%d\", static_configs: [{targets: [%q]}]}\n", i, d.admin())
	}
	at := fmt.Sprintf("127.0.0.1:%d", testenv.Port(t))
	testenv.Start(t, testenv.Program(t, "prometheus"), "--config.file="+file(t, "prometheus.yml", config), "--storage.tsdb.path="+t.TempDir(),
		"--web.listen-address="+at, "--log.level=warn")
	testenv.WaitTCP(t, at)
	testenv.Eventually(t, 30*time.Second, "an increase has something to begin with", func() bool {
		return strings.Contains(asked(at, "min(count_over_time(proxyward_ticks_total[1m])) >= 3"), `"value":[`)
	})
	for i, f := range failing {
		f.begin(drills[i])
	}
	for i, f := range failing {
		alert := fmt.Sprint(i, " ProxywardGuardOpen")
		testenv.Eventually(t, 40*time.Second, f.name+" fires", func() bool {
			return strings.Contains(firing(t, at)[alert], "To blame, as far as known: "+culprits[i])
		})
		t.Logf("%s: %s", f.name, firing(t, at)[alert])
		f.stop(drills[i])
	}
	for i, f := range failing {
		testenv.Eventually(t, 40*time.Second, f.name+" is over", func() bool {
			_, still := firing(t, at)[fmt.Sprint(i, " ProxywardGuardOpen")]
			return !still
		})
	}
}
