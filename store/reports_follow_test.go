package store_test

import (
	"fmt"
	"testing"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

// suspected is a pool with an eligible endpoint, due in an hour, and one report about it,
// as an item that changes nothing yet.
func suspected(t *testing.T, at place) (p *store.Pool, due int64, item store.ReportChange) {
	t.Helper()
	p = at.pool(t)
	due = now(t, p) + 3600_000
	plant(t, p, record.Eligible, due, id(0))
	at.report(t, id(0), "failed", "w", 1)
	r := reports(t, p, "a")
	return p, due, store.ReportChange{Endpoint: id(0), Entries: []string{r[0].Entry}, Tally: map[string]int{"applied": 1}, Next: "next", EndsMs: 1 << 45}
}

// remembered is what is kept of the reports about the endpoint.
func remembered(t *testing.T, p *store.Pool) string {
	t.Helper()
	states, err := p.Reported(t.Context(), ids(0, 1))
	if err != nil {
		t.Fatal(err)
	}
	return states[0]
}

func TestReportsAreAppliedOnlyOntoWhatTheyWereJudgedOn(t *testing.T) {
	cases := []struct {
		name   string
		change func(t *testing.T, at place, p *store.Pool)
		want   store.Code
	}{
		{"nothing changed", func(*testing.T, place, *store.Pool) {}, store.Applied},
		{"other reports were applied", func(t *testing.T, at place, p *store.Pool) {
			at.raw.HSet(t.Context(), at.key("reported"), id(0), "other")
		}, store.Changed},
		{"the endpoint went out", func(t *testing.T, at place, p *store.Pool) { disable(t, p, id(0)) }, store.Changed},
		{"the endpoint is gone", func(t *testing.T, at place, p *store.Pool) {
			applied(t)(p.Forget(t.Context(), record.ByOperator, []store.Entry{look(t, p, id(0))}))
		}, store.Changed},
		{"somebody applied it", func(t *testing.T, at place, p *store.Pool) {
			at.raw.XAck(t.Context(), at.key("reports"), "proxyward", at.raw.XRange(t.Context(), at.key("reports"), "-", "+").Val()[0].ID)
		}, store.Late},
	}
	contract(t, func(t *testing.T, at place) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				at.flush(t)
				p, _, item := suspected(t, at)
				c.change(t, at, p)
				before, pending := remembered(t, p), at.pending(t)
				item.Ask, item.Asked = true, "asked"
				code := apply(t, p, item)[0]
				if want := c.want; want == store.Applied && code != store.Sent || want != store.Applied && code != want {
					t.Fatalf("code %d, want %d", code, c.want)
				}
				if c.want == store.Applied {
					return
				}
				if remembered(t, p) != before || at.pending(t) != pending || len(reportCounts(t, p)) != 0 || len(look(t, p, id(0)).Lanes) > 0 && look(t, p, id(0)).Lanes[record.Urgent] != 0 {
					t.Errorf("something was written: %q, %d pending, %v", remembered(t, p), at.pending(t), reportCounts(t, p))
				}
			})
		}
	})
}

func TestARecheckIsPutOffOnlyFromWhereItWas(t *testing.T) {
	cases := []struct {
		name     string
		old, new int64 // beside the due time
		change   func(t *testing.T, p *store.Pool)
		want     store.Code
		due      int64 // beside the due time; below zero: in no recheck lane
	}{
		{"later", 0, 5000, nil, store.PutOff, 5000},
		{"never sooner", 0, -5000, nil, store.Applied, 0},
		{"not where it is", 0, 0, nil, store.Applied, 0},
		{"it was probed meanwhile", -77, 5000, nil, store.Applied, 0},
		{"an operator asked for it", 0, 5000, func(t *testing.T, p *store.Pool) {
			if _, err := p.Recheck(t.Context(), 0, ids(0, 1)); err != nil {
				t.Fatal(err)
			}
		}, store.Applied, -1},
	}
	contract(t, func(t *testing.T, at place) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				at.flush(t)
				p, due, item := suspected(t, at)
				if c.change != nil {
					c.change(t, p)
				}
				item.DueOld, item.DueNew = due+c.old, due+c.new
				if code := apply(t, p, item)[0]; code != c.want {
					t.Errorf("code %d, want %d", code, c.want)
				}
				got, waiting := look(t, p, id(0)).Lanes[record.Recheck]
				if waiting != (c.due >= 0) || waiting && got != due+c.due {
					t.Errorf("due %+d after it was, waiting %v", got-due, waiting)
				}
				if n := reportCounts(t, p)["stretched"]; (n == 1) != (c.want == store.PutOff) {
					t.Errorf("%d counted", n)
				}
			})
		}
	})
}

// What waits in the urgent lane, or is being probed, needs no second request.
func TestAReportsRequestIsOneProbeWithTheOthers(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		for _, c := range []struct {
			priority int
			then     int64 // the priority it waits at
		}{{0, 0}, {store.MaxPriority, store.ReportPriority}} {
			at.flush(t)
			p, _, item := suspected(t, at)
			if _, err := p.Recheck(t.Context(), c.priority, ids(0, 1)); err != nil {
				t.Fatal(err)
			}
			item.Ask, item.Asked = true, "asked"
			if code := apply(t, p, item)[0]; code != store.Applied || remembered(t, p) != "asked" {
				t.Errorf("asked at %d: code %d, %q", c.priority, code, remembered(t, p))
			}
			if got := look(t, p, id(0)).Lanes[record.Urgent] >> 36; got != c.then {
				t.Errorf("asked at %d: waits at %d", c.priority, got)
			}
			one(t, p)
			at.report(t, id(0), "failed", "w", 2)
			again := store.ReportChange{Endpoint: id(0), Entries: []string{reports(t, p, "a")[0].Entry}, Old: "asked", Next: "x", Ask: true, Asked: "y", EndsMs: 1 << 45}
			if code := apply(t, p, again)[0]; code != store.Applied || remembered(t, p) != "y" || !look(t, p, id(0)).Leased {
				t.Errorf("while it is probed: code %d, %s", code, waits(look(t, p, id(0))))
			}
			if n := reportCounts(t, p)["asked"]; n != 0 {
				t.Errorf("%d counted", n)
			}
		}
	})
}

func TestReportsAskForABoundedNumberOfProbes(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		next := 0
		ask := func(rate float64, n int) (sent int) {
			t.Helper()
			plant(t, p, record.Eligible, 1<<45, ids(next, next+n)...)
			var items []store.ReportChange
			for i := next; i < next+n; i++ {
				at.report(t, id(i), "failed", "w", i)
			}
			for i, r := range reports(t, p, "a") {
				items = append(items, store.ReportChange{Endpoint: id(next + i), Entries: []string{r.Entry}, Next: "n", Ask: true, Asked: "a", EndsMs: 1 << 45})
			}
			next += n
			codes, err := p.ApplyReports(t.Context(), rate, items)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range codes {
				states, err := p.Reported(t.Context(), []string{items[i].Endpoint})
				if err != nil || c != store.Sent && c != store.Throttled || states[0] != map[store.Code]string{store.Sent: "a", store.Throttled: "n"}[c] {
					t.Fatalf("code %d, %v, %v", c, states, err)
				}
				if c == store.Sent {
					sent++
				}
			}
			return sent
		}
		for i, c := range []struct {
			later   time.Duration
			rate    float64
			n, want int
		}{
			{0, 5, 10, 5},            // one second's worth
			{time.Hour, 5, 10, 5},    // it does not add up
			{time.Hour, 0.01, 10, 1}, // one at least
			{50 * time.Second, 0.01, 10, 0},
			{51 * time.Second, 0.01, 10, 1},
		} {
			at.later(t, c.later)
			if got := ask(c.rate, c.n); got != c.want {
				t.Errorf("step %d: %d asked for, want %d", i, got, c.want)
			}
		}
		if got := fmt.Sprint(reportCounts(t, p)); got != "map[asked:12 throttled:38]" {
			t.Error(got)
		}
	})
}

func TestWhatIsWorthNothingAnyMoreIsForgotten(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, 1<<45, ids(0, 3)...)
		ends := now(t, p) + 60_000
		for i := range 3 {
			at.report(t, id(i), "failed", "w", i+1)
		}
		for i, r := range reports(t, p, "a") {
			apply(t, p, store.ReportChange{Endpoint: id(i), Entries: []string{r.Entry}, Next: "n", EndsMs: ends + int64(i)*60_000})
		}
		at.report(t, id(2), "failed", "w", 9)
		apply(t, p, store.ReportChange{Endpoint: id(2), Entries: []string{reports(t, p, "a")[0].Entry}, Old: "n", Next: "", EndsMs: 1 << 45})
		left := func() (n int64) {
			reports(t, p, "a")
			if hash, set := at.raw.HLen(t.Context(), at.key("reported")).Val(), at.raw.ZCard(t.Context(), at.key("suspects")).Val(); hash != set {
				t.Errorf("%d remembered, %d with an end", hash, set)
			}
			return at.raw.HLen(t.Context(), at.key("reported")).Val()
		}
		for _, want := range []int64{2, 1, 0} {
			if n := left(); n != want {
				t.Errorf("%d remembered, want %d", n, want)
			}
			at.later(t, 61*time.Second)
		}
	})
}
