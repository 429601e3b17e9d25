package scheduler

import (
	"math/rand/v2"
	"time"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
	"proxyward/internal/sources"
	"proxyward/scheduler/policy"
	"proxyward/store"
)

// result is what came of one lease.
type result struct {
	lease    store.Lease
	verdict  policy.Result
	back     bool          // give the lease back instead
	delay    time.Duration // with back: until it is due again; 0: to its own place
	attempts int           // how often it was judged again
}

// probe runs one leased probe to its end and hands in the result.
func (r *runner) probe(l store.Lease) {
	defer r.release(1)
	res := result{lease: l, back: true}
	e, err := endpoint.Parse(l.URL)
	switch {
	case err != nil: // written by somebody else: nothing here can probe it
		res.delay = time.Minute
		r.log.Error("URL of an endpoint cannot be read: forget it, or list it anew")
	case time.Since(l.Since) > startWithin:
	case !r.gate.Enter(e, r.check.Limits.PerHost):
		res.delay = time.Second/2 + rand.N(time.Second)
	default:
		v := r.Prober.Probe(r.work, r.check.Transaction, e, checks.RunOptions{Guard: r.guard(l.Record.Sources)})
		r.gate.Leave(e)
		res = r.judged(l, v)
	}
	r.results <- res
}

// guard keeps an endpoint that only strangers' lists name, or no list any more, off
// addresses that are not public; nil: every address is allowed.
func (r *runner) guard(listedBy []string) checks.AddressGuard {
	for _, name := range listedBy {
		if !sources.Fetched(name) || r.private[name] {
			return nil
		}
	}
	if len(listedBy) == 0 && !r.fetches {
		return nil
	}
	return sources.PublicOnly
}

// judged stamps a verdict with the pool's time. What was cancelled by the stop goes back
// to its own place.
func (r *runner) judged(l store.Lease, v verdict.Verdict) result {
	if r.work.Err() != nil && !v.Passed && v.Blame == verdict.Local {
		return result{lease: l, back: true}
	}
	if r.control != nil && disputable(v) {
		v = settle(v, r.control.ask(r.work))
	}
	return result{lease: l, verdict: policy.Result{Verdict: v, AtMs: r.pool.Now(), Dice: rand.Float64()}}
}

// policy is the check's policy with what depends on the pool and the daemon.
func (r *runner) policy() policy.Policy {
	p := r.check.Policy
	r.mu.Lock()
	p.Spread = r.check.spread(r.size)
	r.mu.Unlock()
	p.Tick = r.Tick
	return p
}
