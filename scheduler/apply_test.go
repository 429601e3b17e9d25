package scheduler_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"proxyward/checks/verdict"
	"proxyward/internal/testenv"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// counting is a watcher that counts ticks and probes.
type counting struct {
	ticks, probes atomic.Int64
	gone          atomic.Int64
}

func (c *counting) Probed(string, verdict.Verdict)      { c.probes.Add(1) }
func (c *counting) Moved(string, record.Step)           {}
func (c *counting) Committed(string, scheduler.Commits) {}
func (c *counting) Claimed(string, int, bool)           {}
func (c *counting) Uplink(string, bool)                 {}
func (c *counting) Listed(string, string, int)          {}
func (c *counting) Unlisted(string, string)             {}
func (c *counting) Gone(string)                         { c.gone.Add(1) }
func (c *counting) Ticked(check string) {
	if check == "steady" {
		c.ticks.Add(1)
	}
}

// reloading is a daemon that serves the check "steady", and "c" as it is told.
type reloading struct {
	t     *testing.T
	url   string
	d     *scheduler.Daemon
	watch *counting
	s     *store.Store
	farm  *testenv.Farm
	stop  func()
}

func newReloading(t *testing.T, n int) *reloading {
	t.Helper()
	url := testenv.Redis(t)
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	r := &reloading{t: t, url: url, s: s, farm: testenv.NewFarm(t, n), watch: &counting{}}
	for _, name := range []string{"steady", "c"} {
		enroll(t, s.Pool(name), r.farm, n)
	}
	r.d = scheduler.NewDaemon(scheduler.Options{Store: s, Prober: prober.New(64), Checks: r.checks(1), Log: zap.NewNop(), Watch: r.watch})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.d.Run(ctx) }()
	stopped := false
	r.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			s.Close()
		}
	}
	t.Cleanup(r.stop)
	return r
}

// checks are the steady check and one whose recheck is so many seconds.
func (r *reloading) checks(recheck int) []scheduler.Check {
	r.t.Helper()
	steady, other := testCheck(r.t), testCheck(r.t)
	steady.Name, steady.Made, steady.Policy.Recheck = "steady", "as ever", time.Second
	other.Made, other.Policy.Recheck = recheck, time.Duration(recheck)*time.Second
	return []scheduler.Check{steady, other}
}

func (r *reloading) eligible(check string, n int64) {
	r.t.Helper()
	p := openPoolOf(r.t, r.url, check)
	testenv.Eventually(r.t, 30*time.Second, "all eligible in "+check, func() bool { return states(r.t, p)[record.Eligible] == n })
	sound(r.t, p)
}

func openPoolOf(t *testing.T, url, check string) *store.Pool {
	t.Helper()
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Pool(check)
}

func TestAReloadTakesEffectAndLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	r := newReloading(t, 5)
	r.eligible("c", 5)
	if got := fmt.Sprint(r.d.Names()); got != "[c steady]" {
		t.Fatal(got)
	}
	if err := r.d.Apply(r.checks(1)[:1], 0); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "c is gone", func() bool { return r.watch.gone.Load() == 1 })
	if got := fmt.Sprint(r.d.Names()); got != "[steady]" {
		t.Error(got)
	}
	bad := r.checks(2)
	bad[1].Sources = []scheduler.Source{{File: "x", Refresh: "whenever"}}
	if err := r.d.Apply(bad, 0); err == nil {
		t.Error("a schedule that cannot be read was taken")
	}
	if got := fmt.Sprint(r.d.Names()); got != "[steady]" {
		t.Error("after the refusal:", got)
	}
	r.farm.Reset()
	if err := r.d.Apply(r.checks(1), 2*time.Second); err != nil {
		t.Fatal(err)
	}
	if r.d.TickEvery() != 2*time.Second {
		t.Error("ticks every", r.d.TickEvery())
	}
	r.eligible("c", 5)
	testenv.Eventually(t, 20*time.Second, "both are probed again", func() bool { return len(r.farm.Hits()) > 20 })
}

// Reloads without end: the check that stays the same ticks on, the other one loses nobody,
// and nothing is left behind.
func TestManyReloadsUnderLoad(t *testing.T) {
	const n = 20
	reloads := 10_000
	if testing.Short() || testenv.Race { // .ci/run has it without the race detector too
		reloads = 1000
	}
	r := newReloading(t, n)
	r.eligible("c", n)
	before := runtime.NumGoroutine()
	ticks, began := r.watch.ticks.Load(), time.Now()
	for i := range reloads {
		checks := r.checks(2 + i%3)
		switch i % 10 {
		case 3:
			checks[1].Sources = []scheduler.Source{{File: "x", Refresh: "whenever"}}
		case 7:
			checks = checks[:1]
		}
		if err := r.d.Apply(checks, 0); (err != nil) != (i%10 == 3) {
			t.Fatal(i, err)
		}
	}
	if err := r.d.Apply(r.checks(1), 0); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	r.eligible("c", n)
	r.eligible("steady", n)
	if got, want := r.watch.ticks.Load()-ticks, int64(took/time.Second); got < want-2 {
		t.Errorf("%d ticks in %v", got, took)
	}
	testenv.Eventually(t, 30*time.Second, "what was replaced has ended", func() bool { return runtime.NumGoroutine() <= before+20 })
	t.Logf("figures: %d reloads in %.1f s, %d goroutines before, %d after", reloads, took.Seconds(), before, runtime.NumGoroutine())
	r.stop()
}
