package scheduler

import (
	"context"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
	"proxyward/internal/sources"
	"proxyward/scheduler/guard"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// result is what came of one lease.
type result struct {
	lease    store.Lease
	verdict  policy.Result
	back     bool          // give the lease back instead
	delay    time.Duration // with back: until it is due again; 0: to its own place
	attempts int           // how often it was judged again
	guarded  bool          // the guard or the floor asks to judge it so
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
	r.order.came(l, "", 0) // unless it has told already
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
	eligible := l.Record.State == record.Eligible
	if r.unlinked(l, v, eligible) {
		v.Blame = verdict.Local
	}
	res := result{lease: l, verdict: policy.Result{Verdict: v, AtMs: r.pool.Now(), Dice: rand.Float64(), Probe: l.Probe()}}
	r.order.came(l, guard.KindOf(v), res.verdict.AtMs)
	r.Watch.Probed(r.check.Name, v)
	return res
}

// policy is the check's policy with what depends on the pool and the daemon.
func (r *runner) policy() policy.Policy {
	p := r.check.Policy
	r.mu.Lock()
	p.Spread = r.check.spread(r.size)
	r.mu.Unlock()
	p.Tick = r.every
	p.Guarded, p.Patience = r.guardian.openMs.Load() > 0, r.guardian.patience()
	return p
}

// unlinked reports whether a result is our own network's fault; what it had taken for the
// endpoints' fault before it noticed is undone.
func (r *runner) unlinked(l store.Lease, v verdict.Verdict, eligible bool) bool {
	e, err := endpoint.Parse(l.ID)
	if err != nil {
		return false
	}
	r.mu.Lock()
	alone := r.daemons < 2
	r.mu.Unlock()
	local, went, ids, since := r.uplink.heard(l.ID, e.Host, v, eligible, alone, r.pool.Now())
	if went {
		r.Watch.Uplink(r.check.Name, local)
	}
	switch {
	case went && local:
		r.log.Error("no proxy can be reached from here, while other daemons work: what fails so is given back",
			zap.Int("probes_in_a_row", len(ids)), zap.String("what to do", "look at this machine's network, resolver and firewall"))
		r.undo.Go(func() { r.relink(ids, since) })
	case went:
		r.log.Info("proxies can be reached again from here")
	}
	return local
}

// relink puts back whom this daemon had ejected since its uplink failed.
func (r *runner) relink(ids []string, sinceMs int64) {
	r.contain("uplink", r.check.Name, func() {
		ctx, cancel := context.WithTimeout(r.work, 5*time.Second)
		defer cancel()
		pause(ctx, 2*flushAfter) // the last of them may be on their way to the store
		n, err := r.restore(ctx, ids, sinceMs)
		if err != nil { // with nobody to restore, nothing was asked
			r.health.heard(err)
		}
		r.log.Info("endpoints put back that this daemon had ejected", zap.Int("endpoints", n), zap.Error(err))
	})
}
