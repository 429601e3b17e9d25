package scheduler

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"proxyward/checks/endpoint"
	"proxyward/scheduler/guard"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

const (
	guardRest = 100 * time.Millisecond // between two looks at the guard
	undoSlack = 5 * time.Second        // before the first failure seen: others of the wave were committed beside it
	guardAsk  = 20                     // results within one Confirm that are enough to see an outage end
)

// guardian opens and closes the guard of one check, and puts back whom the failures that
// opened it had ejected. Every daemon has one; the store lets each move happen once.
type guardian struct {
	*runner
	wake     chan struct{}
	openMs   atomic.Int64 // pool time since which it is open, as heard last; 0: closed
	eligible atomic.Int64 // size of the eligible set, as seen last
	undone   int64        // the opening after which everybody was put back
	floored  counter      // failures that the floor kept in, since the last report
}

func newGuardian(r *runner) *guardian { return &guardian{runner: r, wake: make(chan struct{}, 1)} }

// look asks for a look at the guard soon.
func (g *guardian) look() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// heard takes note of what a claim says of the guard. While it is open every tick looks.
func (g *guardian) heard(openMs int64) {
	g.openMs.Store(openMs)
	if openMs > 0 {
		g.look()
	}
}

func (g *guardian) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.wake:
			g.contain("guard", g.check.Name, func() { g.quietly(ctx, g.watch) })
			pause(ctx, guardRest)
		}
	}
}

// watch judges the last results, moves the guard where they ask for it, and undoes.
func (g *guardian) watch(ctx context.Context) error {
	v, err := g.pool.Guard(ctx)
	if err != nil {
		return err
	}
	g.openMs.Store(v.OpenMs)
	g.eligible.Store(v.Eligible)
	last, eligible := g.results(v)
	d, why, since := g.check.Guard.Judge(last, eligible, v.OpenMs)
	if d != guard.Close && (d == guard.Open || v.OpenMs > 0) && g.innocent(ctx) {
		if d, why = guard.Close, "asked directly, the target is well: it is the proxies"; v.OpenMs == 0 {
			return nil
		}
	}
	if d != guard.Stay {
		moved, nowMs, err := g.pool.MoveGuard(ctx, d == guard.Open, why, since)
		if err != nil {
			return err
		}
		g.moved(d, moved, nowMs, why)
		if v.OpenMs, v.SinceMs = 0, since; d == guard.Open {
			v.OpenMs = nowMs
		}
	}
	if v.OpenMs > 0 && g.undone != v.OpenMs {
		return g.undo(ctx, v)
	}
	return nil
}

func (g *guardian) moved(d guard.Decision, moved bool, nowMs int64, why string) {
	if d == guard.Open {
		g.openMs.Store(nowMs)
		if moved {
			g.log.Error("guard opened: nobody is ejected, no pause grows, until the target answers again", zap.String("why", why))
		}
		return
	}
	g.openMs.Store(0)
	if moved {
		g.log.Info("guard closed", zap.String("why", why))
	}
	g.claimAgain()
}

// results are the last ones of the endpoints, newest first, as far as they tell of now:
// each endpoint gives one within every recheck.
func (g *guardian) results(v store.GuardView) (last []guard.Result, eligible int) {
	recheck := time.Duration(float64(g.check.Policy.Recheck) * max(g.check.Reports.Stretch, 1))
	oldest := g.pool.Now() - (2*recheck + g.lease).Milliseconds()
	eligible = int(v.Eligible)
	seen := map[string]bool{}
	for _, s := range v.Last {
		e, err := endpoint.Parse(s.ID)
		if err != nil || seen[s.ID] || s.AtMs < oldest {
			continue
		}
		seen[s.ID] = true
		if !s.In {
			eligible++
		}
		last = append(last, guard.Result{ID: s.ID, Host: e.Host, Kind: guard.Kind(s.Kind), AtMs: s.AtMs})
	}
	return last, eligible
}

// innocent asks the target directly, where the operator allows it.
func (g *guardian) innocent(ctx context.Context) bool {
	return g.control != nil && g.control.ask(ctx).Passed
}

// undo puts back whom the failures ejected. It is done once by every daemon: whoever opened
// the guard may have died.
func (g *guardian) undo(ctx context.Context, v store.GuardView) error {
	ids, err := g.pool.Ejected(ctx, v.SinceMs-undoSlack.Milliseconds())
	if err != nil {
		return err
	}
	n, err := g.restore(ctx, ids, v.SinceMs-(undoSlack+g.lease).Milliseconds())
	if n > 0 {
		g.log.Info("guard put endpoints back", zap.Int("endpoints", n))
	}
	if err == nil {
		g.undone = v.OpenMs
	}
	return err
}

// restore makes those of the endpoints that probes ejected since pool time sinceMs eligible again.
func (r *runner) restore(ctx context.Context, ids []string, sinceMs int64) (n int, err error) {
	outcomes, err := Amend(ctx, r.pool, ids, func(e store.Entry, now int64) (store.Change, bool, error) {
		return change(policy.Restore(e.Record, sinceMs, r.policy(), policy.At{Ms: now, By: record.ByGuard}))
	})
	for _, o := range outcomes {
		if o.Written {
			n++
		}
	}
	return n, err
}

// patience is when an eligible endpoint that fails while the guard is open is probed
// again: the pool as a whole soon sees the outage end, and the target gets no more
// probes than it does at rest.
func (g *guardian) patience() time.Duration {
	p := g.check.Policy
	return max(p.Confirm, min(p.Recheck, p.Confirm*time.Duration(g.eligible.Load())/guardAsk))
}
