package store_test

import (
	"fmt"
	"testing"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

// failing is a result that ejects the endpoint of a lease, judged as the guard asks for or not.
func ejecting(t *testing.T, p *store.Pool, l store.Lease, guarded bool) store.Change {
	t.Helper()
	c := move(l, record.Cooling, now(t, p), time.Hour)
	c.Guarded = guarded
	return c
}

func floored(t *testing.T, p *store.Pool, floor store.Floor, c ...store.Change) []store.Code {
	t.Helper()
	codes, err := p.Commit(t.Context(), store.Terms{Lease: time.Minute, Scores: scores, Floor: floor}, c)
	if err != nil {
		t.Fatal(err)
	}
	return codes
}

func TestNobodyIsEjectedWhileTheGuardIsOpen(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, 1, ids(0, 2)...)
		plant(t, p, record.Candidate, 1, id(2))
		leases := claim(t, p, request(9)).Leases
		guard(t, p, true)
		for i, l := range leases {
			if got := commit(t, p, ejecting(t, p, l, false))[0]; got != store.Guarded {
				t.Errorf("%s: code %d, want it refused", l.ID, got)
			}
			if e := look(t, p, l.ID); !e.Leased || e.Record.State != l.Record.State {
				t.Errorf("%s after the refusal: %s, %s", l.ID, e.Record.State, waits(e))
			}
			stay := move(l, l.Record.State, now(t, p), time.Hour)
			stay.Guarded = true
			if i == 2 {
				guard(t, p, false) // judged as if it were open: that is no harm
			}
			if got := commit(t, p, stay)[0]; got != store.Applied {
				t.Errorf("%s, judged anew: code %d", l.ID, got)
			}
		}
	})
}

func TestTheGuardMovesOnceAndSaysWhy(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p, other := at.pool(t), at.pool(t)
		guard(t, p, true)
		if moved, _, err := other.MoveGuard(t.Context(), true, "me too", 9); moved || err != nil {
			t.Error(moved, err)
		}
		s, err := other.Status(t.Context())
		if err != nil || s.Guard.OpenMs == 0 || s.Guard.Why != "for the test: true" || s.Guard.SinceMs != 7 || s.Guard.Opened != 1 {
			t.Errorf("%+v %v", s.Guard, err)
		}
		if g := claim(t, p, request(1)); g.GuardMs != s.Guard.OpenMs {
			t.Errorf("a claim says open since %d, want %d", g.GuardMs, s.Guard.OpenMs)
		}
		guard(t, other, false)
		guard(t, p, true)
		events, _, err := p.Events(t.Context(), "0", 9)
		if err != nil || len(events) != 3 {
			t.Fatal(events, err)
		}
		for i, to := range []string{"open", "closed", "open"} {
			if e := events[i]; e["endpoint"] != "*" || e["to"] != to || e["by"] != "guard" || e["detail"] == "" || e["at_ms"] == "" {
				t.Errorf("event %d: %v", i, e)
			}
		}
		if v, err := p.Guard(t.Context()); err != nil || v.Opened != 2 {
			t.Error(v, err)
		}
	})
}

func TestTheLastFiftyResultsAreKept(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, 1, ids(0, 2)...)
		tell := func(from, to int) {
			t.Helper()
			var seen []store.Seen
			for i := from; i < to; i++ {
				seen = append(seen, store.Seen{ID: id(i % 3), Kind: []string{"p", "t", "f"}[i%3], AtMs: int64(i)})
			}
			if _, err := p.Commit(t.Context(), store.Terms{Seen: seen}, []store.Change{move(one(t, p), record.Eligible, now(t, p), 0)}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(n, newest int) {
			t.Helper()
			v, err := p.Guard(t.Context())
			if err != nil || len(v.Last) != n || v.Eligible != 2 {
				t.Fatal(len(v.Last), v.Eligible, err)
			}
			for i, s := range v.Last { // newest first
				k := newest - i
				want := store.Seen{ID: id(k % 3), Kind: []string{"p", "t", "f"}[k%3], AtMs: int64(k), In: k%3 < 2}
				if s != want {
					t.Errorf("result %d: %+v, want %+v", i, s, want)
				}
			}
		}
		tell(0, 20)
		check(20, 19)
		tell(20, 55)
		check(50, 54)
		tell(55, 300)
		check(50, 299)
	})
}

func TestWhoWasEjectedSince(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, 1, ids(0, 4)...)
		plant(t, p, record.Candidate, 1, id(9))
		leases := claim(t, p, request(9)).Leases
		since := int64(0)
		for i, l := range leases {
			if i == 2 {
				at.later(t, time.Minute)
				since = now(t, p)
			}
			commit(t, p, ejecting(t, p, l, false))
		}
		got, err := p.Ejected(t.Context(), since)
		if err != nil || fmt.Sprint(got) != fmt.Sprint([]string{leases[3].ID, leases[2].ID}) {
			t.Errorf("%v, want the last two who were eligible: %v", got, err)
		}
	})
}

func TestTheFloorIsNeverLeft(t *testing.T) {
	for _, c := range []struct {
		floor store.Floor
		stay  int
	}{{store.Floor{}, 0}, {store.Floor{Count: 3}, 3}, {store.Floor{Count: 50}, 10}, {store.Floor{Share: 0.25}, 4}, {store.Floor{Share: 1}, 10}} {
		t.Run(c.floor.String(), func(t *testing.T) {
			contract(t, func(t *testing.T, at place) {
				p := at.pool(t)
				plant(t, p, record.Eligible, 1, ids(0, 10)...)
				plant(t, p, record.Disabled, 0, ids(10, 15)...) // a quarter of 15 is 4
				var changes []store.Change
				for _, l := range claim(t, p, request(20)).Leases {
					changes = append(changes, ejecting(t, p, l, false))
				}
				for i, code := range floored(t, p, c.floor, changes...) {
					want := store.Applied
					if i >= 10-c.stay {
						want = store.Floored
					}
					if code != want {
						t.Errorf("ejection %d: code %d, want %d", i+1, code, want)
					}
				}
				if n := at.raw.ZCard(t.Context(), at.key("eligible")).Val(); n != int64(c.stay) {
					t.Errorf("%d stay, want %d", n, c.stay)
				}
			})
		})
	}
}

// An operator may go below the floor, and a trial that fails has nothing to do with it.
func TestTheFloorHoldsProbesOnly(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, now(t, p)+3600_000, ids(0, 2)...)
		plant(t, p, record.Cooling, 1, id(2))
		if got := floored(t, p, store.Floor{Count: 2}, ejecting(t, p, one(t, p), false)); got[0] != store.Applied {
			t.Errorf("a failed trial: code %d", got[0])
		}
		disable(t, p, id(0))
		if n := at.raw.ZCard(t.Context(), at.key("eligible")).Val(); n != 1 {
			t.Errorf("%d eligible after the operator took one", n)
		}
	})
}

func TestABadFloorWritesNothing(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, 1, id(0))
		c := ejecting(t, p, one(t, p), false)
		if codes, err := p.Commit(t.Context(), store.Terms{Lease: time.Minute, Scores: scores, Floor: store.Floor{Count: 1 << 60}}, []store.Change{c}); err == nil {
			t.Error(codes, "without an error")
		}
		if e := look(t, p, id(0)); !e.Leased || !e.Member {
			t.Errorf("%+v", e)
		}
	})
}
