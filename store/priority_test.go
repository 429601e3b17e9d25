package store_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

// Requests come in any order, some for the same endpoint twice: the more urgent one of
// them counts, with the turn it had.
func TestFivePrioritiesAreServedInOrderEachFirstInFirstOut(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		const endpoints = 60
		plant(t, p, record.Eligible, now(t, p)+3600_000, ids(0, endpoints)...)
		priorities := []int{0, 1, 1000, 50_000, store.MaxPriority}
		dice := rand.New(rand.NewPCG(1, 2))
		turns := map[int][]int{} // by priority: who was asked for, in order
		asked := map[int]int{}   // at which priority
		for range 3 * endpoints {
			i, priority := dice.IntN(endpoints), priorities[dice.IntN(len(priorities))]
			if _, err := p.Recheck(t.Context(), priority, []string{id(i)}); err != nil {
				t.Fatal(err)
			}
			before, again := asked[i]
			if again && before <= priority {
				continue // it stays where it is
			}
			if again {
				turns[before] = slices.DeleteFunc(turns[before], func(j int) bool { return j == i })
			}
			asked[i], turns[priority] = priority, append(turns[priority], i)
		}
		var want []string
		for _, priority := range priorities {
			if len(turns[priority]) == 0 {
				t.Fatalf("nobody at %d: the test means nothing", priority)
			}
			for _, i := range turns[priority] {
				want = append(want, id(i))
			}
		}
		var got []string
		for len(got) < len(want) { // by sevens: the order holds over claims
			g := granted(claim(t, p, request(7)))
			if len(g) == 0 {
				break
			}
			got = append(got, g...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("granted %v\nwant    %v", got, want)
		}
	})
}

func TestAFloodOfUrgentRequestsStarvesNoLane(t *testing.T) {
	t.Parallel()
	p := real(t).store(t).Pool(check) // fsck would take longer than all the rest
	const flood, each = 100_000, 150
	plant(t, p, record.Eligible, 1<<45, ids(0, flood)...)
	plant(t, p, record.Candidate, 1, ids(flood, flood+each)...)
	plant(t, p, record.Eligible, 1, ids(flood+each, flood+2*each)...)
	plant(t, p, record.Cooling, 1, ids(flood+2*each, flood+3*each)...)
	began := time.Now()
	codes, err := p.Recheck(t.Context(), store.MaxPriority, ids(0, flood))
	if err != nil || slices.Max(codes) != store.Queued || slices.Min(codes) != store.Queued {
		t.Fatal(err)
	}
	t.Logf("asked for %d in %v", flood, time.Since(began))
	if _, err := p.Recheck(t.Context(), 0, ids(flood-5, flood)); err != nil { // these go before all others
		t.Fatal(err)
	}
	c := request(50)
	c.Rate, c.PerTick, c.Lease = 1e6, each, time.Hour
	began = time.Now()
	var lanes []record.Lane
	var urgent []string
	for len(lanes) < 1000 {
		g := claim(t, p, c)
		if len(g.Leases) != 50 {
			t.Fatalf("granted %d", len(g.Leases))
		}
		for _, l := range g.Leases {
			lanes = append(lanes, l.Lane)
			if l.Lane == record.Urgent {
				urgent = append(urgent, l.ID)
			}
		}
	}
	t.Logf("20 claims beside them in %v", time.Since(began))
	for end := 100; end <= len(lanes); end++ {
		share := map[record.Lane]int{}
		for _, l := range lanes[end-100 : end] {
			share[l]++
		}
		for _, l := range record.Lanes {
			if share[l] < 10 {
				t.Fatalf("of grants %d to %d: %v", end-100, end, share)
			}
		}
	}
	if want := append(ids(flood-5, flood), ids(0, len(urgent)-5)...); !slices.Equal(urgent, want) {
		t.Errorf("not in turn: %v", urgent[:20])
	}
}
