package prober

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

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
	probes    atomic.Int64

	mu   sync.Mutex
	free int
}

// New makes a prober for so many probes at once. Heart must run for it to notice stalls.
func New(concurrency int) *Prober { return &Prober{free: concurrency} }

// Heart watches until ctx ends whether this process gets to run.
func (p *Prober) Heart(ctx context.Context) { p.heartbeat.Run(ctx) }

// Reserve takes up to n slots and says how many it got. It does not wait.
func (p *Prober) Reserve(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	got := max(0, min(n, p.free))
	p.free -= got
	return got
}

// Release returns n slots.
func (p *Prober) Release(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += n
}

// Panics counts the panics contained so far.
func (p *Prober) Panics() int64 { return p.panics.Load() }

// Probes counts the probes run so far.
func (p *Prober) Probes() int64 { return p.probes.Load() }

// Probe runs one transaction. A panic in it is contained and judged our own fault.
func (p *Prober) Probe(ctx context.Context, c *checks.Check, e endpoint.Endpoint, o checks.RunOptions) (v verdict.Verdict) {
	p.probes.Add(1)
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
