package scheduler

import (
	"fmt"
	"testing"

	"proxyward/scheduler/guard"
	"proxyward/store"
	"proxyward/store/record"
)

func TestTheGuardHearsInTheOrderOfTheClaims(t *testing.T) {
	lease := func(i int, s record.State) store.Lease {
		return store.Lease{ID: fmt.Sprint(i), Token: fmt.Sprint("t", i), Record: record.Record{State: s}}
	}
	var leases []store.Lease
	for i := range 5 {
		leases = append(leases, lease(i, record.Eligible))
	}
	leases = append(leases, lease(5, record.Candidate))
	var o order
	o.claimed(leases)
	heard := func() (ids string) {
		for _, s := range o.take() {
			ids += s.ID + s.Kind
		}
		return ids
	}
	for _, step := range []struct {
		i    int
		kind guard.Kind
		want string
	}{
		{2, guard.Other, ""},        // two before it are still out
		{1, guard.Other, ""},        // one is
		{5, guard.Other, ""},        // it was no eligible one
		{2, guard.Passed, ""},       // it has told already
		{0, guard.Passed, "0p1f2f"}, // and now three may be heard
		{4, guard.Target, ""},
		{3, "", "4t"}, // given back: it tells nothing and holds up nobody
		{3, guard.Passed, ""},
	} {
		o.came(leases[step.i], step.kind, 1)
		if got := heard(); got != step.want {
			t.Errorf("after %d %q: heard %q, want %q", step.i, step.kind, got, step.want)
		}
	}
	if len(o.queue) != 0 {
		t.Errorf("%d still awaited", len(o.queue))
	}
}
