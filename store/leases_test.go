package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

func TestAnExpiredLeaseReturnsToItsLaneAndPlaceWithoutAPenalty(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		start := now(t, p)
		plant(t, p, record.Candidate, start, id(0), id(4))
		plant(t, p, record.Eligible, start, id(1))
		plant(t, p, record.Cooling, start, id(2))
		plant(t, p, record.Candidate, start+3600_000, id(3))
		for _, i := range []int{3, 4} {
			if _, err := p.Recheck(t.Context(), 7, []string{id(i)}); err != nil {
				t.Fatal(err)
			}
		}
		before := map[string]string{}
		raw := map[string]string{}
		for i := range 5 {
			e := look(t, p, id(i))
			before[e.ID], raw[e.ID] = waits(e), e.Raw
		}
		at.later(t, time.Second)
		if g := claim(t, p, request(10)); len(g.Leases) != 5 {
			t.Fatalf("granted %v", granted(g))
		}
		at.later(t, 19*time.Second)
		if g := claim(t, p, request(10)); len(g.Leases) != 0 || g.Freed != 0 {
			t.Fatalf("leases of 20 s: %d freed, %v granted after 19 s", g.Freed, granted(g))
		}
		at.later(t, 2*time.Second)
		if g := claim(t, p, request(0)); g.Freed != 5 {
			t.Fatalf("%d leases freed, want 5", g.Freed)
		}
		for i := range 5 {
			if e := look(t, p, id(i)); waits(e) != before[e.ID] || e.Raw != raw[e.ID] {
				t.Errorf("%s waits %s, before the lease %s; record %s, before %s", e.ID, waits(e), before[e.ID], e.Raw, raw[e.ID])
			}
		}
	})
}

func TestManyExpiredLeasesAreFreedInTurns(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, ids(0, 250)...)
		for len(claim(t, p, request(200)).Leases) > 0 {
		}
		at.later(t, 21*time.Second)
		for i, want := range []int{200, 50, 0} {
			if g := claim(t, p, request(0)); g.Freed != want {
				t.Errorf("claim %d freed %d, want %d", i, g.Freed, want)
			}
		}
	})
}

func TestOnlyTheLiveLeaseCommits(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p, other := at.pool(t), at.pool(t)
		plant(t, p, record.Candidate, 1, id(0))
		first := one(t, p)
		forged := move(first, record.Eligible, now(t, p), time.Minute)
		forged.Token = "candidate.1.guessed"
		if codes := commit(t, p, forged); codes[0] != store.Late {
			t.Errorf("a guessed token: code %d", codes[0])
		}
		forged.Token = ""
		if codes := commit(t, p, forged); codes[0] != store.Late {
			t.Errorf("no token: code %d", codes[0])
		}
		at.later(t, 21*time.Second)
		second := one(t, other)
		if second.Token == first.Token {
			t.Fatal("two leases with one token")
		}
		if codes := commit(t, p, move(first, record.Cooling, now(t, p), time.Minute)); codes[0] != store.Late {
			t.Errorf("the expired lease: code %d", codes[0])
		}
		if e := look(t, p, id(0)); e.Raw != second.Raw || !e.Leased {
			t.Errorf("a late result left %s, %s", e.Raw, waits(e))
		}
		if codes := commit(t, other, move(second, record.Eligible, now(t, p), time.Minute)); codes[0] != store.Applied {
			t.Errorf("the live lease: code %d", codes[0])
		}
	})
}

func TestAResultIsAppliedOnce(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, ids(0, 2)...)
		c := move(one(t, p), record.Eligible, now(t, p), time.Minute)
		if codes := commit(t, p, c, c); codes[0] != store.Applied || codes[1] != store.Late {
			t.Errorf("twice in one batch: %v", codes)
		}
		before := look(t, p, c.ID)
		if codes := commit(t, p, c); codes[0] != store.Late {
			t.Errorf("again: %v", codes)
		}
		if after := look(t, p, c.ID); after.Raw != before.Raw || waits(after) != waits(before) || after.Score != before.Score {
			t.Errorf("changed from %+v to %+v", before, after)
		}
		events, _, err := p.Events(t.Context(), "0", 100)
		if err != nil || len(events) != 1 {
			t.Errorf("%d events, %v, want one", len(events), err)
		}
	})
}

func TestADueTimeIsFromNowToTheDelayFromNow(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		for i, c := range []struct {
			name       string
			due        func(now int64) int64
			delay      time.Duration
			after, max time.Duration
		}{
			{"passed", func(now int64) int64 { return 1 }, time.Hour, 0, time.Minute},
			{"in time", func(now int64) int64 { return now + 1800_000 }, time.Hour, 29 * time.Minute, 30 * time.Minute},
			{"far beyond the delay", func(now int64) int64 { return now * 2 }, time.Hour, time.Hour, time.Hour + time.Minute},
		} {
			plant(t, p, record.Candidate, 1, id(i))
			l := one(t, p)
			ch := move(l, record.Eligible, 0, 0)
			ch.Transition.DueMs, ch.Transition.DelayMs = c.due(now(t, p)), c.delay.Milliseconds()
			before := now(t, p)
			applied(t)(commit(t, p, ch), nil)
			wait := time.Duration(look(t, p, l.ID).Lanes[record.Recheck]-before) * time.Millisecond
			if wait < c.after || wait > c.max {
				t.Errorf("%s: due in %v, want %v to %v", c.name, wait, c.after, c.max)
			}
		}
	})
}

// A commit that names no due time goes back to the place it was claimed from.
func TestACommitWithoutADueTimeLosesNobody(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, 1, id(0))
		own := waits(look(t, p, id(0)))
		c := move(one(t, p), record.Eligible, 0, 0)
		c.Transition.DueMs = 0
		applied(t)(commit(t, p, c), nil)
		if got := waits(look(t, p, id(0))); got != own {
			t.Errorf("waits %s, want its old place %s", got, own)
		}
	})
}

func TestGivingALeaseBack(t *testing.T) {
	back := func(t *testing.T, p *store.Pool, l store.Lease, delay time.Duration) {
		t.Helper()
		if err := p.GiveBack(t.Context(), 20*time.Second, []store.Return{{Lease: l, Delay: delay}}); err != nil {
			t.Fatal(err)
		}
	}
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Cooling, 1, id(0))
		raw, own := look(t, p, id(0)).Raw, waits(look(t, p, id(0)))

		l := one(t, p)
		back(t, p, l, 0)
		if got := waits(look(t, p, id(0))); got != own {
			t.Errorf("without delay: waits %s, want %s", got, own)
		}
		back(t, p, l, time.Hour)
		if got := waits(look(t, p, id(0))); got != own {
			t.Errorf("a lease given back twice: waits %s, want %s", got, own)
		}
		l = one(t, p)
		before := now(t, p)
		back(t, p, l, time.Hour)
		e := look(t, p, id(0))
		if wait := e.Lanes[record.Recovery] - before; len(e.Lanes) != 1 || wait < 3600_000 || wait > 3660_000 || e.Raw != raw {
			t.Errorf("with a delay of an hour: waits %s, %d ms from now; record %s, before %s", waits(e), wait, e.Raw, raw)
		}
	})
	t.Run("of one asked for", func(t *testing.T) {
		contract(t, func(t *testing.T, at place) {
			p := at.pool(t)
			plant(t, p, record.Eligible, now(t, p)+3600_000, id(0))
			if _, err := p.Recheck(t.Context(), 3, []string{id(0)}); err != nil {
				t.Fatal(err)
			}
			place := waits(look(t, p, id(0)))
			back(t, p, one(t, p), 0)
			if got := waits(look(t, p, id(0))); got != place {
				t.Errorf("waits %s, want %s", got, place)
			}
			back(t, p, one(t, p), time.Hour)
			if got := waits(look(t, p, id(0))); !strings.HasPrefix(got, "recheck ") {
				t.Errorf("with a delay it waits %s, want its own lane", got)
			}
		})
	})
	t.Run("after it was sent elsewhere", func(t *testing.T) {
		contract(t, func(t *testing.T, at place) {
			p := at.pool(t)
			plant(t, p, record.Eligible, 1, id(0))
			l := one(t, p)
			due := now(t, p) + 60_000
			disable(t, p, id(0))
			enable(t, p, id(0), due)
			back(t, p, l, time.Hour)
			if got := waits(look(t, p, id(0))); got != fmt.Sprintf("candidate %d", due) {
				t.Errorf("waits %s, want candidate %d", got, due)
			}
		})
	})
	t.Run("of one disabled meanwhile", func(t *testing.T) {
		contract(t, func(t *testing.T, at place) {
			p := at.pool(t)
			plant(t, p, record.Eligible, 1, id(0))
			l := one(t, p)
			disable(t, p, id(0))
			back(t, p, l, time.Hour)
			if got := waits(look(t, p, id(0))); got != "nowhere" {
				t.Errorf("waits %s", got)
			}
		})
	})
}

// Whatever is done to an endpoint while a probe is in flight, no second probe starts; and
// when that lease ends without a result, the endpoint is where it was sent.
func TestOneTrialWhateverHappensMeanwhile(t *testing.T) {
	hour := int64(3600_000)
	retire := func(r *record.Record) { r.Holds, r.Sources = []record.Hold{record.Retired}, nil }
	cases := []struct {
		name  string
		state record.State
		do    func(t *testing.T, p *store.Pool, due int64)
		goes  string // and where it goes: to the DUE time given, or to its OWN place
	}{
		{"nothing", record.Eligible, func(*testing.T, *store.Pool, int64) {}, "recheck OWN"},
		{"asked for", record.Eligible, func(t *testing.T, p *store.Pool, due int64) {
			if got, err := p.Recheck(t.Context(), 0, []string{id(0)}); err != nil || got[0] != store.Probing {
				t.Errorf("asked: %v, %v", got, err)
			}
		}, "recheck OWN"},
		{"a note", record.Cooling, func(t *testing.T, p *store.Pool, due int64) {
			amend(t, p, id(0), record.Cooling, 0, func(r *record.Record) { r.Note = "seen" })
		}, "recovery OWN"},
		{"disabled", record.Eligible, func(t *testing.T, p *store.Pool, due int64) { disable(t, p, id(0)) }, "nowhere"},
		{"disabled and enabled", record.Cooling, func(t *testing.T, p *store.Pool, due int64) {
			disable(t, p, id(0))
			enable(t, p, id(0), due)
		}, "candidate DUE"},
		{"disabled, asked for, enabled, asked for", record.Candidate, func(t *testing.T, p *store.Pool, due int64) {
			disable(t, p, id(0))
			for range 2 {
				if got, err := p.Recheck(t.Context(), 0, []string{id(0)}); err != nil || got[0] != store.Probing {
					t.Errorf("asked: %v, %v", got, err)
				}
				if look(t, p, id(0)).Record.State == record.Disabled {
					enable(t, p, id(0), due)
				}
			}
		}, "candidate DUE"},
		{"left the list", record.Candidate, func(t *testing.T, p *store.Pool, due int64) {
			amend(t, p, id(0), record.Disabled, 0, retire)
		}, "nowhere"},
		{"left the list and returned", record.Cooling, func(t *testing.T, p *store.Pool, due int64) {
			amend(t, p, id(0), record.Disabled, 0, retire)
			enable(t, p, id(0), due)
		}, "candidate DUE"},
		{"a new password", record.Cooling, func(t *testing.T, p *store.Pool, due int64) {
			amend(t, p, id(0), record.Cooling, due, func(r *record.Record) { r.URLRev++ })
		}, "recovery DUE"},
		{"two holds", record.Eligible, func(t *testing.T, p *store.Pool, due int64) {
			disable(t, p, id(0))
			amend(t, p, id(0), record.Disabled, 0, func(r *record.Record) { r.Holds = append(r.Holds, record.Retired) })
		}, "nowhere"},
		{"forgotten", record.Eligible, func(t *testing.T, p *store.Pool, due int64) {
			codes, err := p.Forget(t.Context(), record.ByOperator, []store.Entry{look(t, p, id(0))})
			if err != nil || codes[0] != store.Busy {
				t.Errorf("forget: %v, %v", codes, err)
			}
		}, "recheck OWN"},
	}
	contract(t, func(t *testing.T, at place) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				at.flush(t)
				p, other := at.pool(t), at.pool(t)
				plant(t, p, c.state, 1, id(0))
				l := one(t, p)
				due := now(t, p) + hour
				c.do(t, p, due)
				sound(t, p)
				if e := look(t, p, id(0)); e.Token[strings.LastIndex(e.Token, "."):] != l.Token[strings.LastIndex(l.Token, "."):] {
					t.Errorf("token %s became %s", l.Token, e.Token)
				}
				if g := claim(t, other, request(10)); len(g.Leases) > 0 {
					t.Fatalf("a second probe: %+v", g.Leases)
				}
				at.later(t, 21*time.Second)
				r := request(0)
				r.Daemon = "e"
				if g := claim(t, other, r); g.Freed != 1 {
					t.Fatalf("%d leases freed", g.Freed)
				}
				want := strings.NewReplacer("DUE", fmt.Sprint(due), "OWN", strings.Split(l.Token, ".")[1]).Replace(c.goes)
				if got := waits(look(t, p, id(0))); got != want {
					t.Errorf("then it waits %s, want %s", got, want)
				}
			})
		}
	})
}

func TestWhatWasWrittenWhileAProbeWasInFlightSurvives(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, id(0))
		l := one(t, p)
		amend(t, p, id(0), record.Candidate, 0, func(r *record.Record) { r.Note = "mine" })
		if codes := commit(t, p, move(l, record.Eligible, now(t, p), time.Minute)); codes[0] != store.Changed {
			t.Fatalf("judged on the old record: code %d", codes[0])
		}
		if e := look(t, p, id(0)); e.Record.Note != "mine" || e.Member || !e.Leased {
			t.Fatalf("after the refusal: %+v", e)
		}
		disable(t, p, id(0))
		e := look(t, p, id(0))
		l.Raw, l.Record = e.Raw, e.Record
		noted := move(l, record.Disabled, 0, 0) // judged again: a result for a disabled one changes no state
		noted.Transition.Next.LatencyMs = 5
		applied(t)(commit(t, p, noted), nil)
		e = look(t, p, id(0))
		if e.Record.Note != "mine" || len(e.Record.Holds) != 1 || e.Record.LatencyMs != 5 || waits(e) != "nowhere" || e.Member {
			t.Errorf("after the commit: %+v, %s", e.Record, waits(e))
		}
	})
}

func TestAmendingTwiceAtOnceWritesOnce(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, now(t, p)+3600_000, id(0))
		e := look(t, p, id(0))
		note := func(words string) store.Change {
			next := e.Record.Clone()
			next.Note = words
			return store.Change{ID: e.ID, Old: e.Raw, Transition: record.Transition{From: e.Record.State, To: e.Record.State, Next: next}}
		}
		codes, err := p.Amend(t.Context(), []store.Change{note("a"), note("b")})
		if err != nil || codes[0] != store.Applied || codes[1] != store.Changed {
			t.Errorf("%v, %v", codes, err)
		}
		if got := look(t, p, id(0)); got.Record.Note != "a" || waits(got) != waits(e) {
			t.Errorf("note %q, waits %s, before %s", got.Record.Note, waits(got), waits(e))
		}
	})
}

func TestANewPasswordLeavesAnUrgentRequestWhereItIs(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, now(t, p)+3600_000, id(0))
		if _, err := p.Recheck(t.Context(), 5, []string{id(0)}); err != nil {
			t.Fatal(err)
		}
		before := waits(look(t, p, id(0)))
		amend(t, p, id(0), record.Eligible, now(t, p), func(r *record.Record) { r.URLRev++ })
		if got := waits(look(t, p, id(0))); got != before {
			t.Errorf("waits %s, before %s", got, before)
		}
		disable(t, p, id(0))
		if got := waits(look(t, p, id(0))); got != "nowhere" {
			t.Errorf("disabled, it waits %s", got)
		}
	})
}

// Many clients claim at once: no endpoint is leased twice.
func TestNoEndpointIsLeasedTwiceAtOnce(t *testing.T) {
	at := real(t)
	p := at.pool(t)
	plant(t, p, record.Candidate, 1, ids(0, 400)...)
	var mu sync.Mutex
	leased := map[string]int{}
	var all sync.WaitGroup
	for d := range 8 {
		p := at.pool(t)
		all.Go(func() {
			r := request(7)
			r.Daemon, r.Rate = fmt.Sprint(d), 1e6
			for {
				g, err := p.Claim(t.Context(), r)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, l := range g.Leases {
					leased[l.ID]++
				}
				mu.Unlock()
				if g.Left == 0 && len(g.Leases) == 0 || err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	for id, n := range leased {
		if n != 1 {
			t.Errorf("%s leased %d times", id, n)
		}
	}
	if len(leased) != 400 {
		t.Errorf("%d endpoints leased, want all", len(leased))
	}
}
