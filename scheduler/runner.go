package scheduler

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"proxyward/prober"
	"proxyward/store"
	"proxyward/store/record"
)

const (
	leaseMargin = 10 * time.Second       // a lease outlives its probe's deadline by this
	startWithin = 100 * time.Millisecond // a probe that starts later than this after its claim is given back
	flushAfter  = 200 * time.Millisecond
	flushAt     = 200
	movesTold   = 100 // lines for changes of state within a second; then one of so many
	worthwhile  = 16  // slots that are worth a claim
)

// runner works one check of one daemon.
type runner struct {
	*Daemon
	check      Check
	every      time.Duration // between ticks
	pool       *store.Pool
	gate       *prober.Gate
	lease      time.Duration
	log        *zap.Logger
	moves      *zap.Logger // log, thinned out where very much moves
	refreshers []*refresher
	fetches    bool     // some source is fetched over the network
	control    *control // nil: the target may not be asked directly
	guardian   *guardian
	uplink     uplink
	order      order
	fit        fitness
	private    map[string]bool // fetched sources that may name private addresses
	jobs       jobs
	follower   *follower

	claiming sync.Mutex    // one claim at a time
	sum      sums          // guarded by claiming
	loaded   bool          // its configuration was told to the pool; guarded by claiming
	standby  standby       // guarded by claiming
	again    chan struct{} // ask for a claim between ticks
	results  chan result
	probes   sync.WaitGroup
	undo     sync.WaitGroup  // of what a failed uplink had done
	work     context.Context // ends when the grace time is over
	stop     context.CancelFunc

	committed, moved counter // results and moves since the last report
	untold           counter // lines for moves that were left out since

	mu      sync.Mutex
	flying  int  // probes in flight
	hungry  bool // it got no slot when it asked last
	short   bool // the last claim ended for want of slots
	left    int  // due, yet not granted, at the last claim
	size    int  // endpoints in the pool
	daemons int  // live ones
}

// newRunner prepares a check; before is what worked it so far, nil: nothing. The caller
// holds d.mu.
func newRunner(d *Daemon, c Check, before *service) (*runner, error) {
	r := &runner{Daemon: d, every: d.every, check: c, pool: d.Store.Pool(c.Name).Farthest(c.Farthest()), gate: prober.NewGate(), follower: &follower{}, lease: c.Timeout + leaseMargin,
		log: d.Log.With(zap.String("check", c.Name)), again: make(chan struct{}, 1), results: make(chan result, c.Limits.Concurrency),
		private: map[string]bool{}}
	if before != nil { // it knows the pool's time, whom it probes, and what it told
		r.pool, r.gate, r.follower = before.pool, before.gate, before.follower
	}
	r.moves = r.log.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(c, time.Second, movesTold, movesTold, zapcore.SamplerHook(r.thinned))
	}))
	r.pool.OnMove(func(id string, step record.Step) {
		r.Watch.Moved(c.Name, step)
		if !followed(step.By) {
			r.tell(id, step)
		}
	})
	r.guardian = newGuardian(r)
	r.work, r.stop = context.WithCancel(context.Background())
	if c.Control {
		r.control = &control{check: c.Transaction}
	}
	for _, s := range c.Sources {
		f, err := newRefresher(r, s)
		if err != nil {
			return nil, err
		}
		for n := 2; slices.ContainsFunc(r.refreshers, func(o *refresher) bool { return o.name == f.name }); n++ {
			f.name = fmt.Sprintf("%s#%d", f.origin.Name(), n) // URLs that differ in what a name leaves out
		}
		r.refreshers = append(r.refreshers, f)
		r.fetches = r.fetches || s.URL != ""
		r.private[f.name] = s.AllowPrivate
	}
	return r, nil
}

// tick is one firing of the scheduler: the heartbeat of this daemon, and a claim.
func (r *runner) tick(ctx context.Context) {
	r.contain("tick", r.check.Name, func() {
		r.claim(ctx, true)
		r.tendJobs(ctx)
		r.report()
	})
}

// claimer claims between ticks, when slots fall free while work is due.
func (r *runner) claimer(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.again:
			r.contain("claim", r.check.Name, func() { r.claim(ctx, false) })
		}
	}
}

func (r *runner) claimAgain() {
	select {
	case r.again <- struct{}{}:
	default:
	}
}

// listen claims at once when somebody asks for urgent work.
func (r *runner) listen(ctx context.Context) {
	for range r.pool.Wakeups(ctx) {
		r.claimAgain()
	}
}

// claim takes what is due and starts a probe for each. always: even without a free slot,
// for the heartbeat and the expired leases.
func (r *runner) claim(ctx context.Context, always bool) {
	r.claiming.Lock()
	defer r.claiming.Unlock()
	if !r.ready(ctx) {
		return
	}
	slots := r.reserve()
	if r.uplink.isDown() { // the others do the work; a few probes tell when it is back
		r.release(max(0, slots-uplinkTries))
		slots = min(slots, uplinkTries)
	}
	if slots == 0 && !always {
		return
	}
	grant, err := r.pool.Claim(r.work, store.Claim{ // a stop does not break it off: what it grants would lie still until it expires
		Daemon: r.Name, Slots: slots, Lease: r.lease, PerTick: r.check.Trickle.PerTick,
		MaxTick: r.check.Trickle.MaxPerTick, Window: r.check.Trickle.Window, Rate: r.check.Limits.Rate, Alive: 3*r.every + 2*time.Second,
		Fingerprint: r.check.Fingerprint, Loaded: !r.loaded})
	r.health.heard(err)
	if err != nil {
		r.release(slots)
		return
	}
	r.release(slots - len(grant.Leases))
	r.loaded = true
	r.standby.heard(r, grant.Daemons == 0)
	r.Watch.Claimed(r.check.Name, grant.Freed, grant.Daemons == 0)
	r.guardian.heard(grant.GuardMs)
	r.mu.Lock()
	emptied := grant.Size == 0 && r.size > 0
	r.left, r.size, r.daemons = grant.Left, grant.Size, grant.Daemons
	r.short = grant.Left > 0 && len(grant.Leases) == slots
	r.mu.Unlock()
	if emptied {
		r.emptied(ctx)
	}
	for _, err := range grant.Broken {
		r.log.Error("record cannot be read", zap.Error(err))
	}
	trials := 0
	r.sum.expired += grant.Freed
	r.order.claimed(grant.Leases)
	for _, l := range grant.Leases {
		if l.Lane == record.Recovery {
			trials++
		}
		r.probes.Go(func() { r.probe(l) })
	}
	if trials > 0 { // the next ones can be admitted as soon as the window has passed
		time.AfterFunc(r.check.Trickle.Window+5*time.Millisecond, r.claimAgain)
	}
	r.sum.claimed, r.sum.trials, r.sum.daemons = r.sum.claimed+len(grant.Leases), r.sum.trials+trials, grant.Daemons
}

// reserve takes as many slots as this check may use now; while another check goes without,
// no more than its share.
func (r *runner) reserve() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := r.check.Limits.Concurrency
	if r.wants.Load() > 0 && !r.hungry {
		most = min(most, max(1, r.Prober.Limit()/int(max(1, r.serving.Load()))))
	}
	want := min(most-r.flying, 200)
	n := r.Prober.Reserve(want)
	r.flying += n
	if hungry := want > 0 && n == 0; hungry != r.hungry {
		r.hungry = hungry
		r.wants.Add(map[bool]int64{true: 1, false: -1}[hungry])
	}
	return n
}

// release returns slots; where the last claim took all there were, they are claimed for anew.
func (r *runner) release(n int) {
	r.mu.Lock()
	r.flying -= n
	free, again := r.check.Limits.Concurrency-r.flying, r.short
	r.mu.Unlock()
	r.Prober.Release(n)
	if n > 0 && again && (free >= worthwhile || free >= r.check.Limits.Concurrency/4) {
		r.claimAgain()
	}
}

// drain waits for the probes in flight, at most grace, then cancels the rest: they come
// back as our own fault, and their leases are given back.
func (r *runner) drain(grace time.Duration) {
	r.claiming.Lock()
	//lint:ignore SA2001 once the lock is had, a claim under way has started its probes
	r.claiming.Unlock()
	timer := time.AfterFunc(grace, r.stop)
	r.probes.Wait()
	r.undo.Wait()
	timer.Stop()
	r.mu.Lock()
	if r.hungry {
		r.hungry = false
		r.wants.Add(-1)
	}
	r.mu.Unlock()
	r.stop()
	close(r.results)
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
