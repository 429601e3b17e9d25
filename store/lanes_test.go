package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

func TestEachStateWaitsInItsPlace(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		due := now(t, p) + 3600_000
		for i, c := range []struct {
			state record.State
			lane  string
		}{
			{record.Candidate, "candidate"},
			{record.Eligible, "recheck"},
			{record.Cooling, "recovery"},
			{record.Permitted, "recovery"},
			{record.Disabled, ""},
		} {
			plant(t, p, c.state, due, id(i))
			want := fmt.Sprintf("%s %d", c.lane, due)
			if c.lane == "" {
				want = "nowhere"
			}
			e := look(t, p, id(i))
			if got := waits(e); got != want || e.Member != (c.state == record.Eligible) {
				t.Errorf("%s waits %s, want %s; in the eligible set: %v", c.state, got, want, e.Member)
			}
		}
	})
}

func TestUrgentOnesGoByPriorityThenByTurn(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, now(t, p)+3600_000, ids(0, 9)...)
		var want []string
		for _, ask := range []struct{ priority, id int }{{99999, 8}, {500, 3}, {0, 7}, {500, 2}, {99999, 1}, {99998, 4}, {0, 5}, {1, 0}} {
			got, err := p.Recheck(t.Context(), ask.priority, []string{id(ask.id)})
			if err != nil || got[0] != store.Queued {
				t.Fatal(got, err)
			}
		}
		for _, i := range []int{7, 5, 0, 3, 2, 4, 8, 1} {
			want = append(want, id(i))
		}
		g := claim(t, p, request(100))
		if got := granted(g); !slices.Equal(got, want) {
			t.Errorf("granted %v\nwant    %v", got, want)
		}
		// The place survives a lease that ends without a result, to the last digit.
		last := g.Leases[6]
		if score := fmt.Sprint(99999*(1<<36) + 1); !strings.HasPrefix(last.Token, "urgent."+score+".") {
			t.Errorf("token %s, want one with score %s", last.Token, score)
		}
		at.later(t, 21*time.Second)
		if got := granted(claim(t, p, request(100))); !slices.Equal(got, want) {
			t.Errorf("after their leases ended: granted %v\nwant %v", got, want)
		}
	})
}

func TestAskingTwiceIsOneProbeAtTheMoreUrgentPriority(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, now(t, p)+3600_000, ids(0, 3)...)
		ask := func(priority int, i int, want store.Asked) {
			t.Helper()
			if got, err := p.Recheck(t.Context(), priority, []string{id(i)}); err != nil || got[0] != want {
				t.Errorf("asked for %d at %d: %v, %v, want %v", i, priority, got, err, want)
			}
		}
		ask(10, 0, store.Queued)
		ask(10, 1, store.Queued)
		ask(10, 2, store.Queued)
		ask(10, 1, store.Waiting) // its turn stays
		ask(20, 0, store.Waiting) // less urgent: it stays too
		ask(9, 2, store.Waiting)  // more urgent: it goes ahead
		g := claim(t, p, request(10))
		if want := []string{id(2), id(0), id(1)}; !slices.Equal(granted(g), want) {
			t.Errorf("granted %v, want %v", granted(g), want)
		}
		ask(0, 0, store.Probing)
		ask(0, 77, store.Nowhere)
		if g := claim(t, p, request(10)); len(g.Leases) > 0 {
			t.Errorf("a second probe of %v", granted(g))
		}
	})
}

func TestPrioritiesOutOfRangeAreRefused(t *testing.T) {
	p := real(t).pool(t)
	for _, priority := range []int{-1, store.MaxPriority + 1} {
		if _, err := p.Recheck(t.Context(), priority, []string{id(0)}); err == nil {
			t.Errorf("priority %d was taken", priority)
		}
	}
}

func TestWithinALaneTheLongestDueIsFirst(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		start := now(t, p)
		for _, i := range []int{3, 0, 2, 4, 1} {
			plant(t, p, record.Candidate, start+1000*int64(i+1), id(i))
		}
		if g := claim(t, p, request(9)); len(g.Leases) > 0 {
			t.Fatalf("granted %v before they are due", granted(g))
		}
		at.later(t, 4500*time.Millisecond)
		if got := granted(claim(t, p, request(9))); !slices.Equal(got, ids(0, 4)) {
			t.Errorf("granted %v, want the first four", got)
		}
	})
}

func TestLanesAreServedInOrder(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, id(0), id(3))
		plant(t, p, record.Eligible, 1, id(1))
		plant(t, p, record.Cooling, 1, id(2))
		if _, err := p.Recheck(t.Context(), 99999, []string{id(3)}); err != nil {
			t.Fatal(err)
		}
		want := []record.Lane{record.Urgent, record.Recovery, record.Recheck, record.CandidateQueue}
		for i, lane := range want {
			if l := one(t, p); l.Lane != lane || l.ID != []string{id(3), id(2), id(1), id(0)}[i] {
				t.Errorf("grant %d: %s from %s, want one from %s", i, l.ID, l.Lane, lane)
			}
		}
	})
}

func TestNoLaneStarves(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		const each = 150
		plant(t, p, record.Candidate, 1, ids(0, 2*each)...)
		plant(t, p, record.Eligible, 1, ids(2*each, 3*each)...)
		plant(t, p, record.Cooling, 1, ids(3*each, 4*each)...)
		if _, err := p.Recheck(t.Context(), 0, ids(0, each)); err != nil {
			t.Fatal(err)
		}
		c := request(100)
		c.Rate, c.PerTick, c.Lease = 10, each, time.Hour
		var lanes []record.Lane
		for len(lanes) < 200 {
			g := claim(t, p, c)
			if len(g.Leases) != 10 {
				t.Fatalf("granted %d, want what the rate allows", len(g.Leases))
			}
			for _, l := range g.Leases {
				lanes = append(lanes, l.Lane)
			}
			at.later(t, time.Second)
		}
		for end := 100; end <= len(lanes); end++ {
			share := map[record.Lane]int{}
			for _, l := range lanes[end-100 : end] {
				share[l]++
			}
			for _, l := range record.Lanes {
				if share[l] < 10 || (l == record.Urgent) != (share[l] > 10) {
					t.Fatalf("of grants %d to %d: %v, want 10 of each lane and the rest urgent", end-100, end, share)
				}
			}
		}
	})
}

func TestTheRateBelongsToTheFleet(t *testing.T) {
	type step struct {
		after time.Duration // since the claim before
		want  int
	}
	cases := []struct {
		name  string
		rate  float64
		steps []step
	}{
		{"at most one second's worth at once", 4, []step{{0, 4}, {time.Hour, 4}, {time.Minute, 4}}},
		{"and one where that is less than one", 1. / 600, []step{{0, 1}, {0, 0}, {5 * time.Minute, 0}, {5*time.Minute + time.Second, 1},
			{time.Hour, 1}, {0, 0}}},
		{"nothing without a rate after the first", 0, []step{{0, 1}, {time.Hour, 0}}},
	}
	contract(t, func(t *testing.T, at place) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				at.flush(t)
				pools := []*store.Pool{at.pool(t), at.pool(t)}
				plant(t, pools[0], record.Candidate, 1, ids(0, 60)...)
				for i, s := range c.steps {
					at.later(t, s.after)
					r := request(20)
					r.Daemon, r.Rate, r.Alive, r.Lease = fmt.Sprint(i%2), c.rate, time.Millisecond, 10*time.Hour
					if n := len(claim(t, pools[i%2], r).Leases); n != s.want {
						t.Errorf("claim %d got %d, want %d", i, n, s.want)
					}
				}
			})
		}
	})
}

// What is left of a budget can be any fraction; not every Lua reads 1e-07.
func TestATinyRestOfTheBudgetIsRead(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, ids(0, 3)...)
		r := request(3)
		r.Rate = 1. / 600
		claim(t, p, r)
		for _, left := range []string{"1.0000001", "1.00000000000001", "1e-07"} {
			if err := at.raw.HSet(t.Context(), at.key("budget"), "tokens", left).Err(); err != nil {
				t.Fatal(err)
			}
			want := 1
			if left == "1e-07" {
				want = 0
			}
			if g := claim(t, p, r); len(g.Leases) != want {
				t.Errorf("%s left: %d leases, want %d", left, len(g.Leases), want)
			}
		}
		claim(t, p, r)
	})
}

func TestTheFleetSharesWhatIsDue(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		as := func(daemon string, slots int) store.Grant {
			r := request(slots)
			r.Daemon = daemon
			return claim(t, p, r)
		}
		for _, d := range []string{"a", "b", "c"} {
			if g := as(d, 0); len(g.Leases) != 0 {
				t.Fatal("no slot, yet a lease")
			}
		}
		plant(t, p, record.Candidate, 1, ids(0, 10)...)
		if g := as("a", 0); len(g.Leases) != 0 || g.Left != 10 || g.Daemons != 3 || g.Size != 10 {
			t.Errorf("without a slot: %+v, want a heartbeat only", g)
		}
		for i, c := range []struct {
			daemon            string
			slots, want, left int
		}{{"a", 100, 4, 6}, {"b", 100, 2, 4}, {"c", 1, 1, 3}, {"a", 100, 1, 2}} {
			if g := as(c.daemon, c.slots); len(g.Leases) != c.want || g.Left != c.left {
				t.Errorf("claim %d: %d leases, %d left, want %d, %d", i, len(g.Leases), g.Left, c.want, c.left)
			}
		}
		at.later(t, 6*time.Second)
		if g := as("a", 100); len(g.Leases) != 2 || g.Daemons != 1 {
			t.Errorf("the others are silent: %d leases among %d daemons, want 2 for the one", len(g.Leases), g.Daemons)
		}
		as("b", 0)
		if err := p.Leave(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		if g := as("a", 0); g.Daemons != 1 {
			t.Errorf("%d daemons after one left, want 1", g.Daemons)
		}
	})
}

func TestOneClaimGrantsTwoHundredAtMost(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, ids(0, 250)...)
		if g := claim(t, p, request(1000)); len(g.Leases) != 200 || g.Left != 50 {
			t.Errorf("%d leases, %d left", len(g.Leases), g.Left)
		}
	})
}
