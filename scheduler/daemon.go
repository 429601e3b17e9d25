package scheduler

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/zap"

	"proxyward/prober"
	"proxyward/store"
)

// Options are what a daemon works with.
type Options struct {
	Name   string // unique in the fleet; empty: host name, process id and a random word
	Store  *store.Store
	Prober *prober.Prober
	Checks []Check
	Tick   time.Duration // whole seconds; 0: 1 s
	Grace  time.Duration // how long probes in flight may finish after the stop; 0: the longest timeout
	Log    *zap.Logger   // nil: none
}

// Daemon runs the checks of one process.
type Daemon struct {
	Options
	health *health
	panics counter
	wants  counter // checks that got no slot when they asked last
}

// NewDaemon prepares a daemon; Run starts it.
func NewDaemon(o Options) *Daemon {
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s:%d:%s", host, os.Getpid(), rand.Text()[:6])
	}
	if o.Tick == 0 {
		o.Tick = time.Second
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Grace == 0 {
		for _, c := range o.Checks {
			o.Grace = max(o.Grace, c.Timeout+time.Second)
		}
	}
	d := &Daemon{Options: o, health: newHealth(o.Log)}
	if o.Prober.OnPanic == nil {
		o.Prober.OnPanic = func(id string, value any, stack []byte) { d.caught("probe", id, value, stack) }
	}
	return d
}

// Run works until ctx ends, then stops claiming, lets probes in flight finish within the
// grace time, commits, gives back leases and returns nil. Redis being away is not an error:
// the daemon says so once, backs off and goes on by itself.
func (d *Daemon) Run(ctx context.Context) error {
	// Probes and commits outlive the stop by the grace time; claims do not.
	work, finish := context.WithCancel(context.WithoutCancel(ctx))
	defer finish()
	runners := make([]*runner, len(d.Checks))
	for i, c := range d.Checks {
		var err error
		if runners[i], err = newRunner(d, c); err != nil {
			return err
		}
	}
	clock := cron.New(cron.WithLogger(cron.DiscardLogger))
	var loops sync.WaitGroup
	loops.Go(func() { d.Prober.Heart(work) })
	for _, r := range runners {
		loops.Go(func() { r.committer(work) })
		loops.Go(func() { r.claimer(ctx) })
		loops.Go(func() { r.listen(ctx) })
		loops.Go(func() { r.reporter(ctx) })
		for _, s := range r.refreshers {
			loops.Go(func() { s.loop(ctx) })
			s.enter(clock)
		}
		loops.Go(func() { r.sweeper(ctx) })
		loops.Go(func() { r.guardian.loop(ctx) })
		tick := cron.NewChain(cron.SkipIfStillRunning(cron.DiscardLogger)).Then(cron.FuncJob(func() { r.tick(ctx) }))
		clock.Schedule(cron.Every(d.Tick), tick)
	}
	clock.Start()
	minder(ctx, clock) // until the stop
	<-clock.Stop().Done()
	for _, r := range runners {
		r.drain(d.Grace)
	}
	finish()
	loops.Wait()
	d.leave(runners)
	return nil
}

// leave takes this daemon off the list of live ones, if Redis answers.
func (d *Daemon) leave(runners []*runner) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, r := range runners {
		if err := r.pool.Leave(ctx, d.Name); err != nil {
			d.Log.Warn("could not leave the fleet; the others notice within seconds", zap.Error(err))
			return
		}
	}
}

// contain runs f; a panic in it is counted and told, and goes no further.
func (d *Daemon) contain(what, name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			d.caught(what, name, r, nil)
		}
	}()
	f()
}
