package scheduler

import (
	"context"
	"time"

	"go.uber.org/zap"
)

const (
	fillAtOnce = 2000            // eligible endpoints that a tick has counted after jobs were switched on
	dropEvery  = 5 * time.Second // between looks whether jobs are still counted that nobody asks for
)

// jobs is how far a daemon is with the live jobs of one check; the zero value works.
type jobs struct {
	at    uint64    // place in the eligible set up to which endpoints were put in
	asked time.Time // when it last looked for what is to be dropped
	told  time.Time // when it last told of workers that take jobs which nobody counts
}

// tendJobs ends jobs whose time is over, where the check counts them; what was counted of a
// check that does not any more is removed. Any daemon does both, but for one that stands by:
// another configuration counts.
func (r *runner) tendJobs(ctx context.Context) {
	r.claiming.Lock()
	idle := !r.loaded || r.standby.on.Load()
	r.claiming.Unlock()
	if idle {
		return
	}
	tend := r.dropJobs
	if r.check.Jobs {
		tend = r.endJobs
	}
	r.quietly(ctx, tend)
}

// endJobs ends what is over, and goes on to have everybody who is eligible counted.
func (r *runner) endJobs(ctx context.Context) error {
	sum, err := r.pool.AbandonJobs(ctx)
	if sum.Ended > 0 {
		r.log.Info("abandoned jobs ended: their time limit was over", zap.Int("jobs", sum.Ended))
	}
	for n := 0; err == nil && !sum.Whole && n < fillAtOnce; {
		var ids int
		r.jobs.at, ids, err = r.pool.FillJobs(ctx, r.jobs.at)
		n += ids
		sum.Whole = r.jobs.at == 0
	}
	return err
}

// dropJobs removes what is counted though nobody asks for it. Of workers that take jobs all the
// same it tells, once in complainEvery at most.
func (r *runner) dropJobs(ctx context.Context) error {
	if !r.jobs.asked.IsZero() && time.Since(r.jobs.asked) < dropEvery {
		return nil
	}
	dropped, left, err := r.pool.DropJobs(ctx)
	if err != nil {
		return err
	}
	r.jobs.asked = time.Now()
	switch {
	case dropped:
		r.log.Info("live jobs are not counted any more: what was counted is removed")
	case left > 0 && time.Since(r.jobs.told) > complainEvery:
		r.jobs.told = time.Now()
		r.log.Warn("workers take jobs of a check that counts none: nothing ends those that they abandon",
			zap.Int64("jobs", left), zap.String("what to do", "set `jobs: true`, or have them take proxies with allocate.lua"))
	}
	return nil
}
