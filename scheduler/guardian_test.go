package scheduler_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/internal/testenv"
	"proxyward/scheduler"
	"proxyward/scheduler/guard"
	"proxyward/store"
	"proxyward/store/record"
)

// guardedCheck is a check that fails fast, on a target that can be asked directly.
func guardedCheck(t *testing.T, target string) scheduler.Check {
	t.Helper()
	c := testCheck(t)
	transaction, err := checks.Compile(checks.Spec{Name: "c", Steps: []checks.Step{{
		Request: checks.Request{URL: target, Timeout: 2 * time.Second},
		Expect:  checks.Expect{Status: []checks.StatusRange{{From: 200, To: 200}}, BodyContains: []string{testenv.Page}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	c.Transaction, c.Timeout = transaction, transaction.Timeout()
	c.Guard = guard.Rules{Enabled: true, TargetShare: 0.6, AllShare: 0.95}
	c.Policy.Recheck = 2 * time.Second
	c.Policy.Cooldown.Base = 10 * time.Minute
	return c
}

// eligibleFarm is a pool of n working proxies with a daemon on it.
func eligibleFarm(t *testing.T, c scheduler.Check, n int) (*store.Pool, *testenv.Farm) {
	t.Helper()
	url, farm := testenv.Redis(t), testenv.NewFarm(t, n)
	p := openPool(t, url)
	enroll(t, p, farm, n)
	startDaemon(t, url, c)
	testenv.Eventually(t, 20*time.Second, "all eligible", func() bool { return states(t, p)[record.Eligible] == int64(n) })
	return p, farm
}

func guardOpen(t *testing.T, p *store.Pool) bool {
	t.Helper()
	s, err := p.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Guard.OpenMs > 0
}

// cutShort hangs up without an answer: nobody can say whose fault that is.
func cutShort(w http.ResponseWriter, _ *http.Request, _ string) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

func TestADirectAnswerOfTheTargetKeepsTheGuardShut(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, testenv.Page) }))
	defer target.Close()
	c := guardedCheck(t, target.URL)
	c.Control = true
	p, farm := eligibleFarm(t, c, 8)
	farm.Answer(cutShort)
	testenv.Eventually(t, 20*time.Second, "all out", func() bool {
		if guardOpen(t, p) {
			t.Fatal("the guard opened though the target is well")
		}
		return states(t, p)[record.Cooling] == 8
	})
	sound(t, p)
}

func TestADirectAnswerOfTheTargetClosesTheGuard(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			http.Error(w, "closed", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, testenv.Page)
	}))
	defer target.Close()
	c := guardedCheck(t, target.URL)
	c.Control = true
	p, farm := eligibleFarm(t, c, 8)
	down.Store(true)
	farm.Answer(cutShort)
	testenv.Eventually(t, 20*time.Second, "the guard is open", func() bool { return guardOpen(t, p) })
	testenv.Eventually(t, 10*time.Second, "all back", func() bool { return states(t, p)[record.Eligible] == 8 })
	down.Store(false) // the target is well again, the proxies are not
	testenv.Eventually(t, 60*time.Second, "the guard is closed and the proxies are out", func() bool {
		return !guardOpen(t, p) && states(t, p)[record.Cooling] == 8
	})
	sound(t, p)
}

func TestTheGuardOfFiveEndpoints(t *testing.T) {
	t.Parallel()
	p, farm := eligibleFarm(t, guardedCheck(t, "http://target.example/"), 5)
	farm.Answer(cutShort)
	testenv.Eventually(t, 20*time.Second, "the guard is open and all are back", func() bool {
		return guardOpen(t, p) && states(t, p)[record.Eligible] == 5
	})
	farm.Answer(testenv.Good)
	testenv.Eventually(t, 20*time.Second, "the guard is closed", func() bool { return !guardOpen(t, p) })
	if n := states(t, p)[record.Eligible]; n != 5 {
		t.Errorf("%d eligible", n)
	}
	sound(t, p)
}

func TestAGuardThatIsSwitchedOffShuts(t *testing.T) {
	t.Parallel()
	c := guardedCheck(t, "http://target.example/")
	c.Guard.Enabled = false
	p, farm := eligibleFarm(t, c, 8)
	if _, _, err := p.MoveGuard(t.Context(), true, "by an older configuration", 1); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "the guard is closed", func() bool { return !guardOpen(t, p) })
	farm.Answer(cutShort)
	testenv.Eventually(t, 20*time.Second, "all out", func() bool { return states(t, p)[record.Cooling] == 8 })
	sound(t, p)
}

// Whoever opened the guard may have died before it put anybody back.
func TestAnyDaemonUndoesWhatAnotherOpenedFor(t *testing.T) {
	t.Parallel()
	c := guardedCheck(t, "http://target.example/")
	c.Guard.Enabled = false
	url, farm := testenv.Redis(t), testenv.NewFarm(t, 8)
	p := openPool(t, url)
	enroll(t, p, farm, 8)
	stop := startDaemon(t, url, c)
	testenv.Eventually(t, 20*time.Second, "all eligible", func() bool { return states(t, p)[record.Eligible] == 8 })
	since, err := p.Time(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	farm.Answer(cutShort)
	testenv.Eventually(t, 20*time.Second, "all out", func() bool { return states(t, p)[record.Cooling] == 8 })
	stop()
	if _, _, err := p.MoveGuard(t.Context(), true, "by one that died then", since); err != nil {
		t.Fatal(err)
	}
	c.Guard.Enabled = true
	startDaemon(t, url, c)
	testenv.Eventually(t, 20*time.Second, "all back", func() bool { return states(t, p)[record.Eligible] == 8 })
	farm.Answer(testenv.Good)
	testenv.Eventually(t, 20*time.Second, "the guard is closed", func() bool { return !guardOpen(t, p) })
	sound(t, p)
}

func TestTheFloorKeepsALastReserve(t *testing.T) {
	t.Parallel()
	c := guardedCheck(t, "http://target.example/")
	c.Guard.Enabled, c.Floor = false, scheduler.Floor{Share: 0.5}
	p, farm := eligibleFarm(t, c, 8)
	farm.Answer(cutShort)
	testenv.Eventually(t, 20*time.Second, "half are out", func() bool { return states(t, p)[record.Cooling] == 4 })
	asked := len(farm.Hits())
	testenv.Eventually(t, 20*time.Second, "the others were probed again", func() bool { return len(farm.Hits()) >= asked+8 })
	if n := states(t, p)[record.Eligible]; n != 4 {
		t.Errorf("%d eligible, want the floor", n)
	}
	sound(t, p)
}
