package metrics

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"proxyward/checks/verdict"
	"proxyward/internal/testenv"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

type fakeDaemon struct{}

func (fakeDaemon) Names() []string { return []string{"c"} }
func (fakeDaemon) Lag() map[string]time.Duration {
	return map[string]time.Duration{"c": 3 * time.Second}
}
func (fakeDaemon) Panics() int64 { return 7 }

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// told is a set of metrics that heard of everything once.
func told(read Reader) *Metrics {
	m := New(Version{Version: "v1", Commit: "abc"})
	m.Follow(fakeDaemon{}, read)
	m.Expect("c", []string{"file:a", "file:b"})
	m.Probed("c", verdict.Verdict{Stage: verdict.Connect, Reason: verdict.Refused, Blame: verdict.Proxy, Total: time.Second,
		Timings: map[verdict.Stage]time.Duration{verdict.Connect: time.Second}})
	m.Moved("c", record.Step{To: record.Candidate, By: record.BySource})
	m.Committed("c", scheduler.Commits{Applied: 2, Late: 1})
	m.Claimed("c", 4, true)
	m.Ticked("c")
	m.Uplink("c", true)
	m.Listed("c", "file:a", 12)
	m.Unlisted("c", "file:a")
	m.Reloaded(false)
	m.Called("claim", time.Millisecond, "timeout")
	return m
}

func full(context.Context, string) (Standing, error) {
	return Standing{Status: store.Status{Now: 10_000, States: map[record.State]int64{record.Eligible: 5},
		Lanes: map[record.Lane]store.Queue{record.Recovery: {Waiting: 9, Due: 4, NextMs: 4_000}}, Leases: 2, Trickle: 5, Admitted: 3,
		Guard: store.GuardState{OpenMs: 2_000, Opened: 6}, Daemons: map[string]int64{"a": 1}, LastCommitMs: 9_500},
		Reports: map[string]int64{"applied": 1, "bad\xff": 2}, Repaired: map[string]int64{"I2": 1}}, nil
}

func TestEveryFamilyOfTheTableIsServedAsItSays(t *testing.T) {
	text := scrape(t, told(full))
	served := map[string]bool{}
	for line := range strings.Lines(text) {
		if rest, is := strings.CutPrefix(line, "# TYPE "+prefix); is {
			name, kind, _ := strings.Cut(strings.TrimSpace(rest), " ")
			served[name] = true
			at := slices.IndexFunc(families, func(f family) bool { return f.name == name })
			if at < 0 || families[at].kind != kind || !strings.Contains(text, "# HELP "+prefix+name+" "+families[at].help+"\n") {
				t.Errorf("%s, a %s, is not what the table says", name, kind)
			}
		}
	}
	for _, f := range families {
		if !served[f.name] {
			t.Errorf("%s is not served", f.name)
		}
	}
	for _, want := range []string{
		`proxyward_endpoints{check="c",state="eligible"} 5`, `proxyward_lane_oldest_due_seconds{check="c",lane="recovery"} 6`,
		`proxyward_guard_open_since_timestamp_seconds{check="c"} 2`, `proxyward_tick_lag_seconds{check="c"} 3`, `proxyward_panics_total 7`,
		`proxyward_probes_total{blame="proxy",check="c",reason="refused",result="failed",stage="connect"} 1`, `proxyward_redis_up 1`,
		`proxyward_results_total{check="c",outcome="late"} 1`, `proxyward_results_total{check="c",outcome="floored"} 0`,
		`proxyward_source_failures_total{check="c",source="file:b"} 0`, `proxyward_config_last_reload_successful 0`,
		`proxyward_config_reloads_total{result="applied"} 0`, `proxyward_transitions_total{by="source",check="c",from="new",to="candidate"} 1`,
		"proxyward_reports_total{check=\"c\",outcome=\"bad\uFFFD\"} 2",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
}

func TestPromtoolFindsNothing(t *testing.T) {
	cmd := exec.Command(testenv.Program(t, "promtool"), "check", "metrics")
	cmd.Stdin = strings.NewReader(scrape(t, told(full)))
	if out, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestWhileRedisIsAwayTheProcessStillTells(t *testing.T) {
	text := scrape(t, told(func(context.Context, string) (Standing, error) { return Standing{}, errors.New("away") }))
	for _, want := range []string{"proxyward_redis_up 0", `proxyward_tick_lag_seconds{check="c"} 3`, `proxyward_ticks_total{check="c"} 1`} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "proxyward_endpoints{") {
		t.Error("it tells of endpoints that nobody read")
	}
}

func TestPoolsAreReadOnceASecondHoweverManyAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		m := told(func(ctx context.Context, check string) (Standing, error) { reads.Add(1); return full(ctx, check) })
		for range 3 {
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() { scrape(t, m) })
			}
			all.Wait()
			time.Sleep(1100 * time.Millisecond)
		}
		if n := reads.Load(); n != 3 {
			t.Errorf("%d reads, want 3", n)
		}
	})
}

// The hooks are called between a probe and its commit.
func BenchmarkHooks(b *testing.B) {
	m := told(full)
	v := verdict.Verdict{Passed: true, Total: time.Second, Timings: map[verdict.Stage]time.Duration{
		verdict.Connect: time.Millisecond, verdict.Tunnel: time.Millisecond, verdict.TargetTLS: time.Millisecond, verdict.Headers: time.Millisecond, verdict.Body: time.Millisecond}}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			m.Probed("c", v)
			m.Moved("c", record.Step{From: record.Cooling, To: record.Eligible, By: record.ByProbe})
			m.Called("commit", time.Millisecond, "")
		}
	})
}

func TestACheckThatIsGoneIsForgotten(t *testing.T) {
	m := told(full)
	m.Claimed("other", 1, false)
	m.Gone("c")
	text := scrape(t, m)
	for _, name := range []string{"probes_total", "transitions_total", "results_total", "leases_expired_total", "ticks_total", "source_failures_total", "standby", "source_endpoints"} {
		if strings.Contains(text, prefix+name+`{check="c"`) || strings.Contains(text, prefix+name+`{blame="proxy",check="c"`) {
			t.Errorf("%s still tells of it", name)
		}
	}
	if !strings.Contains(text, `proxyward_leases_expired_total{check="other"} 1`) {
		t.Error("another check is forgotten too")
	}
}
