package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

// wall is a Redis whose wall clock the test sets.
type wall struct {
	place
	redis *miniredis.Miniredis
	at    time.Time
}

func newWall(t *testing.T) *wall {
	m := miniredis.RunT(t)
	url := "redis://" + m.Addr() + "/0"
	w := &wall{place{url, false, testenv.Client(t, url), func(part string) string { return "proxyward:{" + check + "}:" + part }},
		m, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	w.jump(0)
	return w
}

func (w *wall) jump(d time.Duration) {
	w.at = w.at.Add(d)
	w.redis.SetTime(w.at)
}

const hour = time.Hour

func TestTheWallClockMovesAnHour(t *testing.T) {
	for _, c := range []struct {
		name  string
		jumps map[int]time.Duration // before which claim
	}{
		{"forth", map[int]time.Duration{10: hour}},
		{"back", map[int]time.Duration{10: -hour}},
		{"forth and back", map[int]time.Duration{10: hour, 30: -hour}},
		{"back and forth", map[int]time.Duration{10: -hour, 30: hour}},
		{"again and again", map[int]time.Duration{10: hour, 15: hour, 20: -3 * hour, 21: hour, 22: -hour, 30: 4 * hour}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWall(t)
			pools := []*store.Pool{w.pool(t), w.pool(t)}
			plant(t, pools[0], record.Cooling, 1, ids(0, 120)...)
			const perTick, step, claims = 5, 250 * time.Millisecond, 60
			began, last := int64(0), int64(0)
			for i := range claims {
				w.jump(step + c.jumps[i])
				r := request(50)
				r.Daemon, r.Lease, r.PerTick = fmt.Sprint(i%2), hour, perTick
				g := claim(t, pools[i%2], r)
				if began == 0 {
					began = g.Now
				}
				if g.Now < last || g.Now > last+(5*time.Second).Milliseconds() && i > 0 {
					t.Fatalf("claim %d: pool time went from %d to %d", i, last, g.Now)
				}
				last = g.Now
			}
			// A corrected step lasts no time at all; every other one moves the pool's clock.
			if passed := time.Duration(last-began) * time.Millisecond; passed < (claims-1-time.Duration(len(c.jumps)))*step {
				t.Errorf("%v passed in the pool: it did not go on at once", passed)
			}
			told := admissions(t, pools[0])
			checkAdmissions(t, told, perTick, time.Second, perTick*(claims/5-len(c.jumps)-1))
			// No recovery waits for the wall: what is due soon is due soon after the jumps too.
			if told[len(told)-1].ms < last-1500 {
				t.Errorf("the last trial was admitted at %d, the pool's time is %d", told[len(told)-1].ms, last)
			}
		})
	}
}

func TestNoLeaseExpiresForOneLeasePeriodAfterACorrection(t *testing.T) {
	for _, jump := range []time.Duration{hour, -hour} {
		t.Run(jump.String(), func(t *testing.T) {
			w := newWall(t)
			p := w.pool(t)
			plant(t, p, record.Candidate, 1, id(0))
			r := request(1)
			r.Lease = 4 * time.Second
			if g := claim(t, p, r); len(g.Leases) != 1 {
				t.Fatal("nothing claimed")
			}
			w.jump(3500 * time.Millisecond)
			claim(t, p, r)
			w.jump(jump)
			corrected := claim(t, p, r).Now
			for range 40 {
				w.jump(200 * time.Millisecond)
				g := claim(t, p, r)
				if after := time.Duration(g.Now-corrected) * time.Millisecond; (g.Freed == 1) != (after >= r.Lease) {
					t.Fatalf("%v after the correction: %d leases freed", after, g.Freed)
				} else if g.Freed == 1 {
					return
				}
			}
			t.Error("the lease never expired")
		})
	}
}

func TestAFreshDaemonTakesALeapForReal(t *testing.T) {
	w := newWall(t)
	old, fresh := w.pool(t), w.pool(t)
	plant(t, old, record.Candidate, 1, id(0))
	before := claim(t, old, request(1)).Now
	w.jump(hour)
	first := claim(t, fresh, request(0))
	if first.Now != before+hour.Milliseconds() || first.Freed != 1 {
		t.Errorf("pool time went on by %d ms, %d leases freed; want an hour and the lease", first.Now-before, first.Freed)
	}
	w.jump(time.Second)
	for i, p := range []*store.Pool{old, fresh, old} { // nobody goes back
		if g := claim(t, p, request(0)); g.Now != first.Now+1000 {
			t.Errorf("claim %d: pool time %d, want %d", i, g.Now, first.Now+1000)
		}
	}
}

// A leap that a daemon reads before it claims is no leap it knows.
func TestReadingALeapDoesNotMakeItTrue(t *testing.T) {
	w := newWall(t)
	p := w.pool(t)
	plant(t, p, record.Cooling, 1, id(0))
	before := claim(t, p, request(1)).Now
	w.jump(hour)
	if read := now(t, p); read > before+5000 {
		t.Errorf("Time went from %d to %d", before, read)
	}
	plant(t, p, record.Candidate, 1, id(1)) // due now, not in an hour
	if _, err := p.Recheck(t.Context(), 0, []string{id(0)}); err != nil {
		t.Fatal(err)
	}
	if g := claim(t, p, request(9)); g.Now > before+5000 || len(g.Leases) != 1 {
		t.Errorf("pool time %d after %d, %d leases", g.Now, before, len(g.Leases))
	}
}

func TestCommandsNeverMoveTheClock(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		clock := func() string {
			all, err := at.raw.HGetAll(t.Context(), at.key("clock")).Result()
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(all)
		}
		run := func() {
			now(t, p)
			plant(t, p, record.Candidate, 1, id(int(time.Now().UnixNano()%50_000)))
			if _, err := p.Recheck(t.Context(), 0, ids(0, 3)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := p.HoldSource(t.Context(), "s", "d", time.Second, false); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Status(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Forget(t.Context(), record.ByOperator, nil); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if got := clock(); got != "map[]" {
			t.Errorf("before the first daemon: clock %s", got)
		}
		claim(t, p, request(0))
		before := clock()
		run()
		if got := clock(); got != before {
			t.Errorf("clock %s, before %s", got, before)
		}
	})
}

func TestNowIsZeroUntilRedisSaidWhatTimeItIs(t *testing.T) {
	at := real(t)
	p := at.pool(t)
	if p.Now() != 0 {
		t.Error(p.Now())
	}
	ms := now(t, p)
	if got := p.Now(); got < ms || got > ms+60_000 {
		t.Errorf("%d, want %d and a little", got, ms)
	}
}
