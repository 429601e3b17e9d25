package prober

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
)

// Prober runs probes, so many at once at most. Safe for concurrent use.
type Prober struct {
	// OnPanic is told of a panic in a probe, on the probe's goroutine; nil: nobody is.
	OnPanic func(id string, value any, stack []byte)

	heartbeat Heartbeat
	panics    atomic.Int64

	mu      sync.Mutex
	most    int // slots there are
	limit   int // slots the processor can serve now; most until Heart runs
	taken   int
	reached bool          // taken came up to limit since the last adjustment
	freed   chan struct{} // closed and made anew when slots fall free, or the limit grows
}

// New makes a prober for so many probes at once. While Heart runs it also keeps them
// within what the processor can serve.
func New(concurrency int) *Prober {
	return &Prober{most: concurrency, limit: concurrency, freed: make(chan struct{})}
}

// Heart watches until ctx ends whether this process gets to run, and adjusts how many
// probes are let in.
func (p *Prober) Heart(ctx context.Context) {
	var l limiter
	p.setLimit(func(int, bool, int) int { return min(firstLimit, p.most) })
	defer p.setLimit(func(int, bool, int) int { return p.most })
	tick := time.NewTicker(beat)
	defer tick.Stop()
	adjusted := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		p.heartbeat.Beat(now)
		if now.Sub(adjusted) >= adjustment {
			adjusted = now
			p.setLimit(l.next)
		}
	}
}

func (p *Prober) setLimit(next func(limit int, busy bool, most int) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.limit
	p.limit = next(p.limit, p.reached, p.most)
	p.reached = p.taken >= p.limit
	if p.limit > before {
		p.tell()
	}
}

// tell wakes those who wait for a slot. The caller holds mu.
func (p *Prober) tell() {
	close(p.freed)
	p.freed = make(chan struct{})
}

// Reserve takes up to n slots and says how many it got. It does not wait.
func (p *Prober) Reserve(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take(n)
}

// take takes up to n slots. The caller holds mu.
func (p *Prober) take(n int) int {
	got := max(0, min(n, p.limit-p.taken))
	p.taken += got
	p.reached = p.reached || p.taken >= p.limit
	return got
}

// Resize changes how many probes may run at once; those that run go on.
func (p *Prober) Resize(concurrency int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most == concurrency {
		return
	}
	p.most = concurrency
	p.limit = min(p.limit, concurrency)
	p.tell()
}

// Limit is how many slots the processor can serve now.
func (p *Prober) Limit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// Acquire waits for a slot, or for the end of ctx, whose error it then returns.
func (p *Prober) Acquire(ctx context.Context) error {
	for {
		p.mu.Lock()
		got, freed := p.take(1), p.freed
		p.mu.Unlock()
		if got == 1 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-freed:
		}
	}
}

// Release returns n slots.
func (p *Prober) Release(n int) {
	if n == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken -= n
	p.tell()
}

// Panics counts the panics contained so far.
func (p *Prober) Panics() int64 { return p.panics.Load() }

// Probe runs one transaction. A panic in it is contained and judged our own fault.
func (p *Prober) Probe(ctx context.Context, c *checks.Check, e endpoint.Endpoint, o checks.RunOptions) (v verdict.Verdict) {
	defer func() {
		if r := recover(); r != nil {
			p.panics.Add(1)
			if p.OnPanic != nil {
				p.OnPanic(e.ID(), r, debug.Stack())
			}
			v = verdict.Verdict{Stage: verdict.Request, Reason: verdict.LocalError, Blame: verdict.Local,
				Detail: fmt.Sprintf("internal fault of the prober (%T); please report it", r)}
		}
	}()
	if o.Stalled == nil {
		o.Stalled = p.heartbeat.Stalled
	}
	return c.Run(ctx, e, o)
}
