package scheduler

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"proxyward/store"
)

// fitEvery is how often the pool's schema is asked for.
const fitEvery = 10 * time.Second

// fitness knows whether this daemon can work on the pool: whether it knows its schema.
type fitness struct {
	ok atomic.Bool

	mu    sync.Mutex // held while the pool is asked, or upgraded
	at    time.Time  // when it was last asked; zero: never
	knew  bool       // it could be worked on before
	newer bool       // it cannot, and that was told
}

// ready reports whether Redis may be asked now, and the pool worked on.
func (r *runner) ready(ctx context.Context) bool {
	return r.health.ready() && ctx.Err() == nil && r.fits(ctx)
}

// fits reports whether the pool can be worked on. A new pool is made so, an older one is
// brought up to date; while a newer daemon has upgraded it this one stands by, loudly.
func (r *runner) fits(ctx context.Context) bool {
	if !r.fit.mu.TryLock() { // somebody is asking, or upgrades the pool
		return r.fit.ok.Load()
	}
	defer r.fit.mu.Unlock()
	return r.askFit(ctx)
}

// fitsNow waits for who is asking, or upgrades the pool.
func (r *runner) fitsNow(ctx context.Context) bool {
	r.fit.mu.Lock()
	defer r.fit.mu.Unlock()
	return r.askFit(ctx)
}

// askFit asks, if that was not done lately. The caller holds mu.
func (r *runner) askFit(ctx context.Context) bool {
	f := &r.fit
	if !f.at.IsZero() && time.Since(f.at) < fitEvery {
		return f.ok.Load()
	}
	bare, err := r.pool.Fit(ctx)
	var newer store.ErrNewer
	switch {
	case errors.As(err, &newer):
		if f.at = time.Now(); !f.newer {
			r.log.Error("this daemon stands by: it is too old for the pool", zap.Int("pool_schema", newer.Pool), zap.Int("daemon_schema", newer.Mine),
				zap.String("what to do", "run the newer proxyward here too"))
		}
		f.newer = true
		r.Watch.Claimed(r.check.Name, 0, true)
	case err != nil:
		r.health.heard(err)
	default:
		if f.newer {
			r.log.Info("the pool is one this daemon can work on again")
		}
		if bare && f.knew {
			r.lost(ctx)
		}
		f.at, f.knew, f.newer = time.Now(), true, false
	}
	f.ok.Store(err == nil)
	return err == nil
}

// emptied asks at once whether a pool that has no endpoint any more was lost.
func (r *runner) emptied(ctx context.Context) {
	r.fit.mu.Lock()
	defer r.fit.mu.Unlock()
	r.fit.at = time.Time{}
	r.askFit(ctx)
}

// lost has the lists read again after everything in the pool was lost: they are all there is
// to build it from. Who was being probed meanwhile comes back as late, without a mark.
func (r *runner) lost(ctx context.Context) {
	r.pool.Anew()
	if len(r.refreshers) == 0 {
		r.log.Error("the pool was lost, and the check has no list to build it from",
			zap.String("what to do", "import its endpoints again, or restore an export: `proxyward import --state FILE`"))
		return
	}
	r.log.Warn("the pool was lost: it is built anew from its lists, as candidates; what was imported by hand is not in them")
	if err := r.pool.Relist(ctx); err != nil { // a refresh may have been under way
		r.health.heard(err)
	}
	for _, f := range r.refreshers {
		f.soon()
	}
}

// unfit is why a source is not refreshed: nothing that time mends, while this daemon is too
// old for the pool.
func (r *runner) unfit() error {
	r.fit.mu.Lock()
	defer r.fit.mu.Unlock()
	if r.fit.newer {
		return nil
	}
	return errNotReady
}
