package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

const prometheusYAML = `
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ["RULES"]
scrape_configs:
  - job_name: proxyward
    authorization: {credentials_file: "TOKEN"}
    static_configs: [{targets: ["TARGET"]}]
`

// A real Prometheus scrapes a daemon that works, and evaluates the alert rules on it.
func TestPrometheusScrapesARunningDaemon(t *testing.T) {
	t.Parallel()
	farm := testenv.NewFarm(t, 6)
	farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		if proxy == farm.Host(5) {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		testenv.Good(w, r, proxy)
	})
	list := ""
	for n := range 6 {
		list += farm.ID(n) + "\n"
	}
	i := withAdmin(t, testenv.Redis(t), list, locked)
	testenv.Eventually(t, 15*time.Second, "5 eligible", func() bool { return i.metric(`proxyward_endpoints{check="catalogue",state="eligible"}`) == 5 })

	_, text := i.ask("GET", "/metrics", "")
	lint := exec.Command(testenv.Program(t, "promtool"), "check", "metrics")
	lint.Stdin = strings.NewReader(text)
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	if strings.Contains(text, "127.77.") {
		t.Error("a label carries an endpoint")
	}

	rules, err := filepath.Abs("../../configs/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config := file(t, "prometheus.yml", strings.NewReplacer("RULES", rules, "TOKEN", i.token, "TARGET", strings.TrimPrefix(i.base, "http://")).Replace(prometheusYAML))
	at := fmt.Sprintf("127.0.0.1:%d", testenv.Port(t))
	testenv.Start(t, testenv.Program(t, "prometheus"), "--config.file="+config, "--storage.tsdb.path="+t.TempDir(), "--web.listen-address="+at, "--log.level=warn")
	testenv.WaitTCP(t, at)
	seen := func(q string) {
		t.Helper()
		testenv.Eventually(t, 30*time.Second, q, func() bool { return strings.Contains(asked(at, q), `"value":[`) })
	}
	for _, q := range []string{
		`up{job="proxyward"} == 1`,
		`proxyward_endpoints{check="catalogue", state="eligible"} == 5`,
		`proxyward_endpoints{check="catalogue", state="cooling"} == 1`,
		`sum(rate(proxyward_probes_total{result="passed"}[10s])) > 1`,
		`proxyward_probes_total{result="failed", stage!="", blame!=""} > 0`,
		`sum(rate(proxyward_ticks_total[10s])) > 0.3`,
		`histogram_quantile(0.9, sum by (le) (rate(proxyward_redis_call_duration_seconds_bucket[10s]))) > 0`,
		`proxyward_redis_up == 1`, `proxyward_daemons == 1`, `proxyward_build_info{goversion=~"go.+"}`,
	} {
		seen(q)
	}
	resp, err := http.Get("http://" + at + "/api/v1/rules")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	if good := strings.Count(string(b), `"health":"ok"`); good < 12 || strings.Contains(string(b), `"health":"err"`) {
		t.Errorf("%d rules are well: %s", good, b)
	}
	// When nobody is eligible the alert is on its way.
	if code, body := i.ask("POST", "/api/v1/checks/catalogue/disable", `{"filters": {"states": ["eligible", "cooling", "candidate", "permitted"]}}`); code != 200 {
		t.Fatal(code, body)
	}
	seen(`ALERTS{alertname="ProxywardNobodyEligible", alertstate="pending", check="catalogue"}`)
}
