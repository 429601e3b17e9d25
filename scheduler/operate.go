package scheduler

import (
	"context"
	"time"

	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// Disable adds the operator's hold to endpoints, with a note; d is how long it lasts, 0
// until somebody enables them. Unknown endpoints come back with Known false.
func Disable(ctx context.Context, p *store.Pool, ids []string, note string, d time.Duration) ([]Outcome, error) {
	return Amend(ctx, p, ids, func(e store.Entry, now int64) (store.Change, bool, error) {
		if !e.Known() {
			return store.Change{}, false, nil
		}
		until := int64(0)
		if d > 0 {
			until = now + d.Milliseconds()
		}
		t, err := policy.Disable(e.Record, note, until, policy.At{Ms: now, By: record.ByOperator})
		return change(t, err == nil, err)
	})
}

// Enable lifts the operator's hold and the hold `policy`. Written is false for endpoints
// that had neither.
func Enable(ctx context.Context, p *store.Pool, ids []string) ([]Outcome, error) {
	return Amend(ctx, p, ids, func(e store.Entry, now int64) (store.Change, bool, error) {
		if !e.Known() {
			return store.Change{}, false, nil
		}
		return change(policy.Enable(e.Record, 0, policy.At{Ms: now, By: record.ByOperator}))
	})
}

// endHolds lifts operators' holds whose time is over.
func endHolds(ctx context.Context, p *store.Pool) (int, error) {
	now, err := p.Time(ctx)
	if err != nil {
		return 0, err
	}
	ids, err := p.Ended(ctx, now)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	_, err = Amend(ctx, p, ids, func(e store.Entry, now int64) (store.Change, bool, error) {
		if !e.Known() {
			return store.Change{}, false, nil
		}
		return change(policy.Expire(e.Record, 0, policy.At{Ms: now, By: record.ByOperator}))
	})
	return len(ids), err
}
