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
	Watch  Watcher       // nil: nobody
}

// Daemon runs the checks of one process.
type Daemon struct {
	Options
	health  *health
	panics  counter
	wants   counter // checks that got no slot when they asked last
	serving counter // checks

	mu       sync.Mutex
	every    time.Duration // between ticks
	clock    *cron.Cron
	ticking  cron.EntryID
	claims   context.Context // ends with the stop; nil: not running
	services map[string]*service
	ending   sync.WaitGroup // services that were replaced
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
	if o.Watch == nil {
		o.Watch = blind{}
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	d := &Daemon{Options: o, health: newHealth(o.Log), every: o.Tick, services: map[string]*service{}}
	d.health.again = d.claimAll
	if o.Prober.OnPanic == nil {
		o.Prober.OnPanic = func(id string, value any, stack []byte) { d.caught("probe", id, value, stack) }
	}
	return d
}

// Run works until ctx ends, then stops claiming, lets probes in flight finish within the
// grace time, commits, gives back leases and returns nil. Redis being away is not an error:
// the daemon says so once, backs off and goes on by itself.
func (d *Daemon) Run(ctx context.Context) error {
	beating, stopHeart := context.WithCancel(context.WithoutCancel(ctx))
	defer stopHeart()
	d.clock = cron.New(cron.WithLogger(cron.DiscardLogger))
	if err := d.begin(ctx); err != nil {
		return err
	}
	var heart sync.WaitGroup
	heart.Go(func() { d.Prober.Heart(beating) })
	d.clock.Start()
	minder(ctx, d.clock) // until the stop
	<-d.clock.Stop().Done()
	d.end()
	stopHeart()
	heart.Wait()
	return nil
}

// begin starts every check and the ticks.
func (d *Daemon) begin(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.claims = ctx
	fresh, err := d.prepare(d.Checks)
	if err != nil {
		return err
	}
	for _, s := range fresh {
		d.services[s.check.Name] = s
		s.begin(ctx)
	}
	d.serving.Store(int64(len(d.services)))
	d.schedule()
	return nil
}

// schedule puts the tick into the cron. The caller holds mu.
func (d *Daemon) schedule() {
	d.ticking = d.clock.Schedule(cron.Every(d.every), cron.FuncJob(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, s := range d.services {
			s.tickSoon()
		}
	}))
}

// end stops every check and waits for it.
func (d *Daemon) end() {
	d.mu.Lock()
	all := d.services
	d.services, d.claims = map[string]*service{}, nil
	d.mu.Unlock()
	for _, s := range all {
		d.ending.Go(s.end)
	}
	d.ending.Wait()
	d.leave(all)
}

// leave takes this daemon off the list of live ones, if Redis answers.
func (d *Daemon) leave(services map[string]*service) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, s := range services {
		if err := s.pool.Leave(ctx, d.Name); err != nil {
			d.Log.Warn("could not leave the fleet; the others notice within seconds", zap.Error(err))
			return
		}
	}
}

// claimAll makes every check claim now, without waiting for the tick.
func (d *Daemon) claimAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.services {
		s.claimAgain()
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
