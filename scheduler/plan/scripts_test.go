package plan_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"proxyward/scheduler/plan"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// TestTheScriptsBringBackAsPlanned lets the store's own scripts bring a cooled pool back,
// under a clock that the test moves, with trials that all pass.
func TestTheScriptsBringBackAsPlanned(t *testing.T) {
	for _, c := range []struct {
		n       int
		latency time.Duration
		change  func(*plan.Settings)
	}{
		{100, time.Second, func(*plan.Settings) {}},
		{1000, time.Second, func(*plan.Settings) {}},
		{1000, 300 * time.Millisecond, func(*plan.Settings) {}},
		{400, 8 * time.Second, func(s *plan.Settings) { s.MaxPerTick = 50 }},
		{300, time.Second, func(s *plan.Settings) { s.Window = 3 * time.Second }},
		{200, time.Second, func(s *plan.Settings) { s.Rate = 20 }},
		{100, time.Second, func(s *plan.Settings) { s.Rate = 2 }},
		{100, time.Second, func(s *plan.Settings) { s.MaxPerTick = 5 }},
	} {
		s := usual()
		s.Endpoints, s.Latency = c.n, c.latency
		c.change(&s)
		t.Run(fmt.Sprintf("%d of %v, max %d in %v, rate %v", c.n, c.latency, s.MaxPerTick, s.Window, s.Rate), func(t *testing.T) {
			planned := plan.Of(s).All.Growing - s.Policy.Tick // here nobody waits for the first one
			took := bringBack(t, s)
			t.Logf("planned %v, took %v", planned, took)
			if off := math.Abs((took - planned).Seconds()); off > 0.1*planned.Seconds()+0.5 {
				t.Errorf("planned %v, took %v", planned, took)
			}
		})
	}
}

// bringBack is how long it takes until every endpoint is eligible, in simulated time: one
// daemon that looks for work every 50 ms and commits after the latency and 200 ms.
func bringBack(t *testing.T, s plan.Settings) time.Duration {
	server := miniredis.RunT(t)
	began := time.UnixMilli(1_800_000_000_000)
	server.SetTime(began)
	st, err := store.Open(store.Address{URL: "redis://" + server.Addr() + "/0"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	p := st.Pool("c")
	var cooled []store.Change
	for i := range s.Endpoints {
		cooled = append(cooled, store.Change{ID: fmt.Sprintf("http://h%d:1", i), Transition: record.Transition{To: record.Cooling,
			Next: record.Record{State: record.Cooling}, DueMs: began.UnixMilli(), DelayMs: 1}})
	}
	if _, err := p.Amend(t.Context(), cooled); err != nil {
		t.Fatal(err)
	}
	const step = 50 * time.Millisecond
	var flying []store.Lease
	var ends []time.Duration
	left := s.Endpoints
	for at := step; at < time.Hour; at += step {
		server.SetTime(began.Add(at))
		done := 0
		for done < len(ends) && ends[done] <= at {
			done++
		}
		left -= pass(t, p, s, flying[:done], began.Add(at))
		if left == 0 {
			return at
		}
		flying, ends = flying[done:], ends[done:]
		g, err := p.Claim(t.Context(), store.Claim{Daemon: "d", Slots: min(200, s.Concurrency-len(flying)), Lease: s.Timeout + 10*time.Second,
			PerTick: s.PerTick, MaxTick: s.MaxPerTick, Window: s.Window, Rate: s.Rate, Alive: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range g.Leases {
			flying, ends = append(flying, l), append(ends, at+s.Latency+200*time.Millisecond)
		}
	}
	t.Fatalf("%d are not back within an hour", left)
	return 0
}

// pass commits that the leased endpoints passed; rechecks are no news.
func pass(t *testing.T, p *store.Pool, s plan.Settings, leases []store.Lease, at time.Time) (back int) {
	t.Helper()
	var changes []store.Change
	for _, l := range leases {
		if l.Record.State == record.Cooling {
			back++
		}
		next, err := policy.Next(l.Record, passed(at), s.Policy)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, store.Change{ID: l.ID, Token: l.Token, Old: l.Raw, Transition: next})
	}
	codes, err := p.Commit(t.Context(), store.Terms{Lease: s.Timeout + 10*time.Second}, changes)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range codes {
		if c != store.Applied {
			t.Fatalf("code %d", c)
		}
	}
	return back
}
