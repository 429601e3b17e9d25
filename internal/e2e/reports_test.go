package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// As docs/reports.md has it: a worker's three reports, by the script that it runs, have a
// dead proxy out an hour before its recheck, and a healthy one probed once.
func TestReportsHaveAProxyProbedNow(t *testing.T) {
	t.Parallel()
	url, farm := testenv.Redis(t), testenv.NewFarm(t, 3)
	list := ""
	for i := range 3 {
		list += farm.ID(i) + "\n"
	}
	config := yaml(t, strings.Replace(poolYAML, "recheck: 1s", "recheck: 1h\n    reports: {suspect_after: 3, distinct_workers: 2}", 1),
		"REDIS", url, "LIST", file(t, "list", list))
	client := testenv.Client(t, url)
	start(t, "--config", config)
	eligible := func(n int64) func() bool {
		return func() bool { return client.ZCard(t.Context(), "proxyward:{c}:eligible").Val() == n }
	}
	testenv.Eventually(t, 20*time.Second, "3 eligible", eligible(3))
	farm.Reset()
	farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		if proxy == farm.Host(0) {
			panic(http.ErrAbortHandler)
		}
		testenv.Good(w, r, proxy)
	})
	for i := range 3 {
		for _, proxy := range []int{0, 1} {
			redisCLI(t, "-u", url, "--eval", "../../store/lua/report.lua", "proxyward:{c}:reports", ",",
				farm.ID(proxy), "failed", "connect", "refused", fmt.Sprint("worker-", i%2), fmt.Sprint(1000+i))
		}
	}
	testenv.Eventually(t, 20*time.Second, "the dead one is out", eligible(2))
	testenv.Eventually(t, 20*time.Second, "the other was probed", func() bool { return farm.HitsOf(farm.Host(1)) == 1 })
	if o := proxyward(t, "explain", farm.ID(0), "--config", config); !strings.Contains(o.out, "cooling") {
		t.Errorf("explain: %s%s", o.out, o.err)
	}
	if farm.HitsOf(farm.Host(2)) != 0 {
		t.Error("one that nobody reported about was probed")
	}
	if o := proxyward(t, "fsck", "--config", config); o.code != 0 {
		t.Errorf("fsck: %s%s", o.out, o.err)
	}
}
