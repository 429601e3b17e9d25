package e2e_test

import (
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

const failuresYAML = `
redis: {url: "REDIS"}
admin: {listen: ""}
checks:
  - name: c
    request: {url: TARGET, timeout: 1500ms, tls: {ca_file: "CA"}}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    confirm: 1s
    cooldown:
      base: 30m
      jitter: 0
      max: 24h
      reasons:
        connect.refused: {base: 11m}
        auth_rejected: {base: 12m}
        body: {base: 13m}
        verify.http_status: {base: 14m}
`

// probedAfter acts, asks for a probe, waits for it and explains the endpoint.
func probedAfter(t *testing.T, config, id string, act func()) (e explained) {
	t.Helper()
	before := explain(t, config, id).Record.LastProbeMs
	act()
	ok(t, "recheck", "--config", config, id)
	testenv.Eventually(t, 20*time.Second, "probed again", func() bool {
		e = explain(t, config, id)
		return e.Record.LastProbeMs > before
	})
	return e
}

func TestDifferentFailuresStayDifferent(t *testing.T) {
	t.Parallel()
	redis, site, door := testenv.Redis(t), newTarget(t), newDoor(t)
	id := door.ID()
	config := yaml(t, failuresYAML, "REDIS", redis, "TARGET", site.HTTPS+"/good", "CA", site.CAFile, "LIST", file(t, "list", door.URL("right")+"\n"))
	door.Shut()
	start(t, "--config", config)
	testenv.Eventually(t, 10*time.Second, "cooling", func() bool {
		o := proxyward(t, "explain", "--config", config, "--json", id)
		return o.code == 0 && decode[explained](t, o.out).Record.State == "cooling"
	})
	want := map[string]int{}
	look := func(e explained, class, blame string, minutes int64) {
		t.Helper()
		want[class] = 1
		r := e.Record
		if r.State != "cooling" || r.Stage+"."+r.Reason != class || r.Blame != blame || r.PauseMs != minutes*60_000 {
			t.Errorf("want cooling for %d minutes by %s of the %s: %+v", minutes, class, blame, r)
		}
		if len(r.Classes) != len(want) {
			t.Errorf("classes %v, want %v", r.Classes, want)
		}
		for class, n := range want {
			if r.Classes[class].N != n {
				t.Errorf("%s counted %d times: %v", class, r.Classes[class].N, r.Classes)
			}
		}
	}
	look(explain(t, config, id), "connect.refused", "proxy", 11)
	look(probedAfter(t, config, id, func() { door.Open(); door.Right("another") }), "proxy_auth.auth_rejected", "credentials", 12)
	look(probedAfter(t, config, id, func() { door.Right("right"); site.Become("/slow") }), "body.timeout", "proxy", 13)
	e := probedAfter(t, config, id, func() { site.Become("/403") })
	look(e, "verify.http_status", "target", 14)
	var pauses []int64
	words := ok(t, "explain", "--config", config, id)
	for _, step := range e.History { // newest first
		if (step.By == "probe") != (step.Probe != "") || !strings.Contains(words, strings.TrimSpace("by "+step.By+" "+step.Probe)) {
			t.Errorf("a step by %s has the probe %q in JSON; in words: %s", step.By, step.Probe, words)
		}
		if step.To == "cooling" {
			pauses = append(pauses, step.PauseMs/60_000)
		}
	}
	if len(pauses) != 4 || pauses[0] != 14 || pauses[1] != 13 || pauses[2] != 12 || pauses[3] != 11 {
		t.Errorf("pauses in the history: %v minutes", pauses)
	}

	if r := probedAfter(t, config, id, func() { site.Become("/good") }).Record; r.State != "eligible" || len(r.Classes) != 0 {
		t.Errorf("after a pass: %+v", r)
	}
	if r := probedAfter(t, config, id, func() { site.Become("/503") }).Record; r.State != "eligible" || len(r.Classes) != 0 || r.Reason != "http_status" || r.Blame != "target" {
		t.Errorf("after the target's 503: %+v", r)
	}
	if got := redisCLI(t, "-u", redis, "ZRANGE", "proxyward:{c}:eligible", "0", "-1"); got != id {
		t.Errorf("the eligible set after the target's 503: %q", got)
	}
	ok(t, "fsck", "--config", config)
}
