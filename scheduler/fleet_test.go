package scheduler_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"proxyward/checks"
	"proxyward/internal/testenv"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// testCheck is a check against the farm: short pauses, everything else as by default.
func testCheck(t *testing.T) scheduler.Check {
	t.Helper()
	transaction, err := checks.Compile(checks.Spec{Name: "c", Steps: []checks.Step{{
		Request: checks.Request{URL: "http://target.example/catalogue", Timeout: 20 * time.Second,
			Timeouts: checks.Timeouts{FirstByte: 20 * time.Second}}, // a slow machine is no fault of the farm
		Expect: checks.Expect{Status: []checks.StatusRange{{From: 200, To: 200}}, BodyContains: []string{testenv.Page}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	jitter := 0.2
	return scheduler.Check{
		Name: "c", Transaction: transaction, Timeout: transaction.Timeout(),
		Policy: policy.Policy{Rise: 1, Fall: 1, Confirm: time.Second, Recheck: 5 * time.Minute,
			Cooldown: policy.Cooldown{Rule: policy.Rule{Base: time.Second, Max: 30 * time.Minute, Factor: 2, Jitter: &jitter}}},
		Trickle: scheduler.Trickle{PerTick: 5, MaxPerTick: 5, Window: time.Second},
		Limits:  scheduler.Limits{Rate: 1000, Concurrency: 256, PerHost: 16},
		Scores:  scheduler.Scores{Initial: -1, Keep: true},
		Missing: scheduler.Missing{MaxShrink: 0.5},
	}
}

// openPool is the check's pool on the Redis at url.
func openPool(t *testing.T, url string) *store.Pool {
	t.Helper()
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Pool("c")
}

// startDaemon runs a daemon until the returned function, or the test's end, stops it.
func startDaemon(t *testing.T, url string, c scheduler.Check) (stop func()) {
	t.Helper()
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	log := zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel))
	d := scheduler.NewDaemon(scheduler.Options{Store: s, Prober: prober.New(512), Checks: []scheduler.Check{c}, Log: log})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		s.Close()
	}
	t.Cleanup(stop)
	return stop
}

func states(t *testing.T, p *store.Pool) map[record.State]int64 {
	t.Helper()
	s, err := p.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.States
}

func sound(t *testing.T, p *store.Pool) {
	t.Helper()
	r, err := p.Fsck(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Violations {
		t.Errorf("%s %s: %s", v.Invariant, v.Endpoint, v.What)
	}
}

func enroll(t *testing.T, p *store.Pool, f *testenv.Farm, n int) {
	t.Helper()
	sum, err := scheduler.Enroll(t.Context(), p, scheduler.Imported, record.ByOperator, f.Endpoints(t, n), 0)
	if err != nil || sum.New != n {
		t.Fatal(sum, err)
	}
}
