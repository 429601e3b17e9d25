package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

// learning is a pool of trials that one daemon claims, window after window.
type learning struct {
	t  *testing.T
	at place
	p  *store.Pool
	store.Claim
}

func learn(t *testing.T, at place, n, most int) *learning {
	t.Helper()
	l := &learning{t, at, at.pool(t), request(200)}
	l.MaxTick, l.Window, l.Lease = most, time.Minute, time.Hour
	plant(t, l.p, record.Cooling, now(t, l.p), ids(0, n)...)
	return l
}

// window claims what the next window allows.
func (l *learning) window() []store.Lease {
	l.t.Helper()
	l.at.later(l.t, l.Window+time.Second)
	return claim(l.t, l.p, l.Claim).Leases
}

// judge commits the first passed of the trials as passes, the next failed as failures.
func (l *learning) judge(trials []store.Lease, passed, failed int) {
	l.t.Helper()
	var changes []store.Change
	for i, lease := range trials[:passed+failed] {
		to := record.Eligible
		if i >= passed {
			to = record.Cooling
		}
		changes = append(changes, move(lease, to, now(l.t, l.p), 100*time.Hour))
	}
	for _, code := range commit(l.t, l.p, changes...) {
		if code != store.Applied {
			l.t.Fatalf("code %d", code)
		}
	}
}

func (l *learning) want(what string, n int) []store.Lease {
	l.t.Helper()
	trials := l.window()
	if len(trials) != n {
		l.t.Fatalf("%s: %d admitted, want %d", what, len(trials), n)
	}
	return trials
}

func TestTheTrickleDoublesWhileTrialsPassAndFallsWhenTheyFail(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		l := learn(t, at, 300, 30)
		first := l.want("at first", 5)
		second := l.want("while nothing is known", 5)
		l.judge(first, 4, 0)
		third := l.want("four of five passed, and one is in flight", 10)
		l.judge(second, 3, 0)
		l.judge(third, 10, 0)
		fourth := l.want("ten of ten passed", 20)
		l.judge(fourth, 15, 1)
		fifth := l.want("fifteen of twenty passed: not yet 80 %", 20)
		l.judge(fourth[16:], 1, 0)
		sixth := l.want("sixteen did: twice twenty, but max_per_tick", 30)
		l.judge(sixth, 0, 15)
		l.want("just half of the cohort failed", 30)
		l.judge(sixth[15:], 0, 1)
		seventh := l.want("more than half failed", 5)
		l.judge(fifth, 20, 0)
		l.want("an older cohort that passes changes nothing", 5)
		l.judge(seventh, 5, 0)
		l.want("it grows again", 10)
	})
}

func TestTheTrickleNeverExceedsTheRate(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		l := learn(t, at, 100, 1000)
		l.Window, l.Rate = time.Second, 12
		l.judge(l.want("at first", 5), 5, 0)
		l.judge(l.want("doubled", 10), 10, 0)
		l.want("doubled again, but the rate is 12 a second", 12)
	})
}

func TestAResultCountsOnceAndOnlyInItsCohort(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		l := learn(t, at, 100, 100)
		trials := l.want("at first", 5)
		for _, lease := range trials { // the same result five times is late four times
			for range 5 {
				commit(t, l.p, move(trials[0], record.Eligible, now(t, l.p), time.Hour))
			}
			_ = lease
		}
		if err := l.p.GiveBack(t.Context(), l.Lease, []store.Return{{Lease: trials[1], Delay: time.Hour}, {Lease: trials[2], Delay: time.Hour}}); err != nil {
			t.Fatal(err)
		}
		l.want("one passed, two were given back, two are in flight", 5)
	})
}

func TestATrialOfTwoPassesCountsEachPass(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		l := learn(t, at, 100, 100)
		for _, lease := range l.want("at first", 5) {
			c := move(lease, record.Permitted, now(t, l.p), 100*time.Hour)
			c.Transition.Event = nil
			commit(t, l.p, c)
		}
		l.want("all passed once", 10)
	})
}

func TestTheTrickleStartsAnewWhenNobodyIsLeftToAdmit(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		l := learn(t, at, 15, 100)
		l.judge(l.want("at first", 5), 5, 0)
		l.judge(l.want("doubled", 10), 10, 0)
		l.want("nobody is left", 0)
		l.want("and nothing to judge", 0)
		plant(t, l.p, record.Cooling, 1, ids(100, 150)...)
		l.want("the next outage", 5)
	})
}

func TestAHalfEmptyCohortProvesNothing(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		l := learn(t, at, 2, 100)
		l.judge(l.want("two are due", 2), 2, 0)
		plant(t, l.p, record.Cooling, 1, ids(100, 150)...)
		l.want("two of five places were used", 5)
	})
}

func TestCohortsAreForgottenWithTheirLeases(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		l := learn(t, at, 200, 100)
		l.Lease = 3 * time.Minute
		for range 12 {
			l.window()
		}
		if books := l.books(); books == 0 || books > 5 {
			t.Errorf("%d cohorts kept", books)
		}
	})
}

// books is how many cohorts are still open.
func (l *learning) books() (n int) {
	for field := range l.at.raw.HGetAll(l.t.Context(), l.at.key("budget")).Val() {
		if strings.HasPrefix(field, "cohort:") {
			n++
		}
	}
	return n
}

func TestACohortThatIsInIsForgotten(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		l := learn(t, at, 200, 100)
		l.judge(l.want("at first", 5), 3, 2)
		l.want("three of five prove nothing", 5)
		if n := l.books(); n != 1 {
			t.Errorf("%d cohorts are open, one is under way", n)
		}
	})
}

// While the guard is open the trickle is at its least.
func TestAnOpenGuardHoldsTheTrickleAtItsLeast(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		l := learn(t, at, 200, 100)
		l.judge(l.want("at first", 5), 5, 0)
		l.judge(l.want("doubled", 10), 10, 0)
		guard(t, l.p, true)
		l.want("the guard is open", 5)
		guard(t, l.p, false)
		l.judge(l.want("closed, and nothing was learned", 5), 5, 0)
		l.want("it grows again", 10)
	})
}

// guardMoves moves the guard, which must not have stood so.
func guard(t *testing.T, p *store.Pool, open bool) {
	t.Helper()
	moved, ms, err := p.MoveGuard(t.Context(), open, fmt.Sprint("for the test: ", open), 7)
	if err != nil || !moved || ms == 0 {
		t.Fatal(moved, ms, err)
	}
}
