package scheduler

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"proxyward/store"
	"proxyward/store/record"
)

// Imported is the source of endpoints that an operator imported by hand: no refresh
// retires them.
const Imported = "import"

const (
	holdsEvery = 5 * time.Second
	sweepEvery = time.Hour
	firstSweep = time.Minute // after the sources had their first refresh
)

// sweeper ends holds whose time is over, forgets what has long been retired, takes sources
// that left the configuration off the endpoints they listed, mends what is broken, and tells
// what others did.
func (r *runner) sweeper(ctx context.Context) {
	var beside sync.WaitGroup
	beside.Go(func() { r.mendLoop(ctx) })
	beside.Go(func() { r.followLoop(ctx) })
	defer beside.Wait()
	holds, sweep := time.NewTicker(holdsEvery), time.NewTimer(firstSweep)
	defer holds.Stop()
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-holds.C:
			r.contain("holds", r.check.Name, func() { r.quietly(ctx, r.endHolds) })
		case <-sweep.C:
			r.contain("sweep", r.check.Name, func() { r.quietly(ctx, r.sweep) })
			sweep.Reset(sweepEvery)
		}
	}
}

// quietly runs housekeeping while Redis answers and the pool is one that can be worked on.
// Housekeeping that finds nothing to ask Redis for ends well too: only its errors say
// something of Redis.
func (r *runner) quietly(ctx context.Context, f func(context.Context) error) {
	if r.ready(ctx) {
		if err := f(ctx); err != nil {
			r.health.heard(err)
		}
	}
}

func (r *runner) endHolds(ctx context.Context) error {
	n, err := endHolds(ctx, r.pool)
	if n > 0 {
		r.log.Info("holds ended", zap.Int("endpoints", n))
		r.claimAgain()
	}
	return err
}

// sweep goes through the whole pool once.
func (r *runner) sweep(ctx context.Context) error {
	now, err := r.pool.Time(ctx)
	if err != nil {
		return err
	}
	var old []store.Entry
	gone := map[string][]string{} // source no longer configured → ids
	err = r.pool.Scan(ctx, func(entries []store.Entry, _ []error) error {
		for _, e := range entries {
			if r.forgettable(e.Record, now) {
				old = append(old, e)
			}
			for _, s := range e.Record.Sources {
				if s != Imported && !slices.ContainsFunc(r.refreshers, func(f *refresher) bool { return f.name == s }) {
					gone[s] = append(gone[s], e.ID)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(old) > 0 {
		err = r.forget(ctx, old)
		r.log.Info("forgot endpoints that had long been retired", zap.Int("endpoints", len(old)))
	}
	for source, ids := range gone {
		n, unlistErr := unlist(ctx, r.pool, source, ids, r.check.Missing.Keep)
		err = errors.Join(err, unlistErr)
		r.log.Warn("a source left the configuration", zap.String("source", source), zap.Int("endpoints", n))
	}
	return err
}

// forget removes endpoints that were retired long ago, and tells each.
func (r *runner) forget(ctx context.Context, old []store.Entry) error {
	codes, err := r.pool.Forget(ctx, record.BySource, old)
	for i, code := range codes {
		if code == store.Applied {
			r.tell(old[i].ID, record.Step{From: old[i].Record.State, To: store.None, By: record.BySource, Detail: "forgotten"})
		}
	}
	return err
}

func (r *runner) forgettable(rec record.Record, now int64) bool {
	age := time.Duration(now-rec.SinceMs) * time.Millisecond
	return r.check.Missing.ForgetAfter > 0 && age > r.check.Missing.ForgetAfter && len(rec.Holds) == 1 && rec.Holds[0] == record.Retired
}
