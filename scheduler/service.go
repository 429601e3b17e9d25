package scheduler

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"
)

// service is a runner at work: its loops, its entries in the cron, and how it ends.
type service struct {
	*runner
	ticks   chan struct{} // the tick is due
	ticked  atomic.Int64  // when the last one was completed, nanoseconds since started
	started time.Time
	halt    context.CancelFunc // of claims
	finish  context.CancelFunc // of commits
	loops   sync.WaitGroup
	entries []cron.EntryID
}

// prepare makes services that do not run yet. The caller holds mu.
func (d *Daemon) prepare(checks []Check) (fresh []*service, err error) {
	for _, c := range checks {
		r, err := newRunner(d, c, d.services[c.Name])
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, &service{runner: r, ticks: make(chan struct{}, 1), started: time.Now()})
	}
	return fresh, nil
}

// begin starts the loops. Probes and commits outlive the stop by the grace time; claims do not.
func (s *service) begin(ctx context.Context) {
	claims, halt := context.WithCancel(ctx)
	work, finish := context.WithCancel(context.WithoutCancel(ctx))
	s.halt, s.finish = halt, finish
	s.loops.Go(func() { s.committer(work) })
	for _, loop := range []func(context.Context){s.ticker, s.claimer, s.listen, s.reporter, s.sweeper, s.guardian.loop} {
		s.loops.Go(func() { loop(claims) })
	}
	for _, f := range s.refreshers {
		s.loops.Go(func() { f.loop(claims) })
		s.entries = append(s.entries, f.enter(s.clock))
	}
}

// end stops claiming, lets probes in flight finish under the rules they began with, and
// commits what they bring.
func (s *service) end() {
	for _, e := range s.entries {
		s.clock.Remove(e)
	}
	s.halt()
	grace := s.Grace
	if grace == 0 {
		grace = s.check.Timeout + time.Second
	}
	s.drain(grace)
	s.finish()
	s.loops.Wait()
}

// tickSoon asks for a tick; one that still runs swallows it.
func (s *service) tickSoon() {
	select {
	case s.ticks <- struct{}{}:
	default:
	}
}

// ticker ticks at once and then whenever the cron says so. Cron fires on whole seconds
// everywhere; each daemon has a moment of its own after that.
func (s *service) ticker(ctx context.Context) {
	for {
		s.tick(ctx)
		s.ticked.Store(int64(time.Since(s.started)))
		s.Watch.Ticked(s.check.Name)
		select {
		case <-ctx.Done():
			return
		case <-s.ticks:
			pause(ctx, scatter(s.Name, s.every/2))
		}
	}
}
