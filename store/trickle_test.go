package store_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

// Several daemons claim at moments of their own; 500 cooldowns end at once.
func TestTheTrickleHoldsInAnyWindow(t *testing.T) {
	const perTick = 5
	for _, c := range []struct {
		window  time.Duration
		daemons int
	}{{time.Second, 1}, {time.Second, 10}, {250 * time.Millisecond, 2}, {3 * time.Second, 2}} {
		t.Run(fmt.Sprintf("window %v, daemons %d", c.window, c.daemons), func(t *testing.T) {
			on := contract
			if c.daemons < 10 { // once on every Redis will do
				on = func(t *testing.T, f func(*testing.T, place)) { f(t, real(t)) }
			}
			on(t, func(t *testing.T, at place) {
				var pools []*store.Pool
				for range c.daemons {
					pools = append(pools, at.pool(t))
				}
				n := 500
				if strings.Contains(t.Name(), "miniredis") { // slow with large sets
					n = 150
				}
				plant(t, pools[0], record.Cooling, now(t, pools[0]), ids(0, n)...)
				dice := rand.New(rand.NewPCG(1, uint64(c.daemons)))
				began := now(t, pools[0])
				for i := range 80 {
					d := dice.IntN(c.daemons)
					r := request(50)
					r.Daemon, r.PerTick, r.Window, r.Lease = fmt.Sprint(d), perTick, c.window, time.Hour
					claim(t, pools[d], r)
					if i == 30 {
						recheckAll(t, pools[0], n)
					}
					at.later(t, c.window/20+time.Duration(dice.Int64N(int64(c.window/5))))
				}
				windows := float64(now(t, pools[0])-began) / float64(c.window.Milliseconds())
				checkAdmissions(t, admissions(t, pools[0]), perTick, c.window, int(windows/1.5)*perTick)
			})
		})
	}
}

// recheckAll asks for every one: it waits for the trickle, or is on trial.
func recheckAll(t *testing.T, p *store.Pool, n int) {
	t.Helper()
	asked, err := p.Recheck(t.Context(), 0, ids(0, n))
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range asked {
		if a != store.Trickles && a != store.Probing {
			t.Fatalf("asked for %s: %v", id(i), a)
		}
	}
}

type admission struct {
	id string
	ms int64
}

// admissions are those told by the events stream.
func admissions(t *testing.T, p *store.Pool) (all []admission) {
	t.Helper()
	events, _, err := p.Events(t.Context(), "0", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e["from"] == "cooling" && e["to"] == "permitted" && e["by"] == "probe" && e["probe"] != "" {
			ms, err := strconv.ParseInt(e["at_ms"], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, admission{e["endpoint"], ms})
		}
	}
	return all
}

func checkAdmissions(t *testing.T, all []admission, perTick int, window time.Duration, least int) {
	t.Helper()
	for i := perTick; i < len(all); i++ {
		if gap := all[i].ms - all[i-perTick].ms; gap <= window.Milliseconds() {
			t.Fatalf("admissions %d to %d within %d ms: %d in a window of %v", i-perTick, i, gap, perTick+1, window)
		}
	}
	if len(all) < least {
		t.Errorf("%d admissions, want at least %d", len(all), least)
	}
	seen := map[string]bool{}
	for _, a := range all {
		if seen[a.id] {
			t.Errorf("%s admitted twice under a lease that lasts", a.id)
		}
		seen[a.id] = true
	}
}

func TestAskingForACoolingOneMakesItDueInsideTheTrickle(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Cooling, now(t, p)+3600_000, ids(0, 20)...)
		if g := claim(t, p, request(50)); len(g.Leases) != 0 {
			t.Fatalf("%d trials before the deadline", len(g.Leases))
		}
		recheckAll(t, p, 20)
		if g := claim(t, p, request(50)); len(g.Leases) != 5 || g.Left != 0 {
			t.Errorf("%d trials and %d more, want 5 and none: the trickle is spent", len(g.Leases), g.Left)
		}
		recheckAll(t, p, 20)
		if g := claim(t, p, request(50)); len(g.Leases) != 0 {
			t.Errorf("asking again admitted %d more", len(g.Leases))
		}
	})
}

func TestATrialGivenBackStaysCountedAsAdmitted(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Cooling, 1, ids(0, 20)...)
		for _, l := range claim(t, p, request(50)).Leases {
			if err := p.GiveBack(t.Context(), time.Second, []store.Return{{Lease: l}}); err != nil {
				t.Fatal(err)
			}
		}
		if g := claim(t, p, request(50)); len(g.Leases) != 0 {
			t.Errorf("%d more trials in the same window", len(g.Leases))
		}
	})
}

func TestATrickleOfNothingAdmitsNobodyAndBlocksNoOtherLane(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Cooling, 1, ids(0, 9)...)
		plant(t, p, record.Candidate, 1, id(9))
		r := request(50)
		r.PerTick = 0
		if g := claim(t, p, r); len(g.Leases) != 1 || g.Leases[0].ID != id(9) {
			t.Errorf("granted %v, want the candidate only", granted(g))
		}
	})
}
