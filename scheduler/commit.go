package scheduler

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"proxyward/scheduler/guard"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// judgeTries bounds how often one result is judged again because its record changed.
const judgeTries = 10

// committer writes results until the results end: at 200, or 200 ms after the first.
// What Redis does not take is tried again until its lease is over.
func (r *runner) committer(work context.Context) {
	var pending []result
	var flush <-chan time.Time
	for {
		select {
		case res, more := <-r.results:
			if !more {
				r.lastCommit(pending)
				return
			}
			pending = append(pending, res)
			if flush == nil {
				flush = time.After(flushAfter)
			}
			if len(pending) < flushAt {
				continue
			}
		case <-flush:
		}
		r.contain("commit", r.check.Name, func() { pending = r.commit(work, pending) })
		flush = nil
		if len(pending) > 0 {
			flush = time.After(max(flushAfter, r.health.wait()))
		}
		r.mu.Lock()
		more := r.left > 0
		r.mu.Unlock()
		if more {
			r.claimAgain()
		}
	}
}

// lastCommit writes what is left when the daemon stops, for a few seconds at most.
func (r *runner) lastCommit(pending []result) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for len(pending) > 0 && ctx.Err() == nil {
		if pending = r.commit(ctx, pending); len(pending) > 0 {
			pause(ctx, flushAfter)
		}
	}
	if len(pending) > 0 {
		r.log.Warn("stopped with results that redis did not take: their leases expire and they are probed again",
			zap.Int("results", len(pending)))
	}
}

// commit writes results and gives back the results that are still to be written.
func (r *runner) commit(ctx context.Context, pending []result) (rest []result) {
	var changes []store.Change
	var judged, given []result
	var returns []store.Return
	late := 0
	for _, res := range pending {
		if time.Since(res.lease.Since) > r.lease+leaseMargin {
			late++ // its lease is long over: somebody else has it
			continue
		}
		t, back := r.next(&res)
		if back {
			returns = append(returns, store.Return{Lease: res.lease, Delay: res.delay})
			given = append(given, res)
			continue
		}
		changes = append(changes, store.Change{ID: res.lease.ID, Token: res.lease.Token, Old: res.lease.Raw, Transition: t, Guarded: res.guarded})
		judged = append(judged, res)
	}
	r.refused(late)
	if err := r.pool.GiveBack(ctx, r.lease, returns); err != nil {
		r.health.heard(err)
		rest = append(rest, given...) // safe: what was returned comes back as late
	}
	seen := r.order.take()
	codes, err := r.pool.Commit(ctx, store.Terms{Lease: r.lease, Scores: store.Scores(r.check.Scores), Floor: store.Floor(r.check.Floor), Seen: seen}, changes)
	if r.alarming(seen, codes) {
		r.guardian.look()
	}
	if len(changes) > 0 { // else nothing was asked
		r.health.heard(err)
	}
	rest = append(rest, judged[len(codes):]...)
	return append(rest, r.settle(ctx, judged[:len(codes)], changes, codes)...)
}

// next judges a result, or says that its lease goes back.
func (r *runner) next(res *result) (t record.Transition, back bool) {
	if res.back {
		return t, true
	}
	p := r.policy()
	p.Guarded = p.Guarded || res.guarded
	res.guarded = p.Guarded
	t, err := policy.Next(res.lease.Record, res.verdict, p)
	if err != nil {
		r.log.Error("result cannot be judged", zap.String("endpoint", res.lease.ID), zap.Error(err))
		res.delay = time.Minute
		return t, true
	}
	if t.GiveBack {
		res.delay = time.Duration(t.DelayMs) * time.Millisecond
	}
	return t, t.GiveBack
}

// settle tells what was written, and reads again the records that had changed.
func (r *runner) settle(ctx context.Context, judged []result, changes []store.Change, codes []store.Code) (rest []result) {
	var late, moved, floored int
	var changed []result
	for i, code := range codes {
		switch {
		case code == store.Late:
			late++
		case code == store.Changed:
			changed = append(changed, judged[i])
		case code == store.Guarded, code == store.Floored:
			again := judged[i]
			if again.guarded = true; code == store.Floored {
				r.guardian.floored.Add(1)
				floored++
			}
			rest = append(rest, again)
		default:
			if e := changes[i].Transition.Event; e != nil {
				moved++
				r.Watch.Moved(r.check.Name, *e)
				r.tell(changes[i].ID, *e)
			}
		}
	}
	r.refused(late)
	applied := len(codes) - late - len(changed) - len(rest)
	r.Watch.Committed(r.check.Name, Commits{applied, late, len(changed), len(rest) - floored, floored})
	r.committed.Add(int64(applied))
	r.moved.Add(int64(moved))
	return append(rest, r.reread(ctx, changed)...)
}

// refused tells of results that came after their leases were over.
func (r *runner) refused(late int) {
	if late > 0 {
		r.log.Warn("late results refused: their leases were over", zap.Int("results", late))
	}
}

// alarming: the guard may have to open, or be able to close.
func (r *runner) alarming(seen []store.Seen, codes []store.Code) bool {
	return slices.Contains(codes, store.Guarded) || slices.ContainsFunc(seen, func(s store.Seen) bool {
		return s.Kind != string(guard.Passed) || r.guardian.openMs.Load() > 0
	})
}

// tell writes a line for a change of state. Of very many within a second only some are
// written; the next tick says how many were left out.
func (r *runner) tell(id string, e record.Step) {
	r.moves.Info("moved", zap.String("endpoint", id), zap.String("from", string(e.From)), zap.String("to", string(e.To)),
		zap.String("stage", e.Stage), zap.String("reason", e.Reason), zap.String("blame", e.Blame), zap.String("detail", e.Detail),
		zap.Int64("pause_ms", e.PauseMs), zap.String("by", string(e.By)), zap.String("probe", e.Probe))
}

// thinned counts the lines for moves that were left out.
func (r *runner) thinned(_ zapcore.Entry, d zapcore.SamplingDecision) {
	if d&zapcore.LogDropped > 0 {
		r.untold.Add(1)
	}
}

// reread gives results the record as it is now. A result won with an old password says
// nothing about the new one: its lease goes back.
func (r *runner) reread(ctx context.Context, changed []result) (rest []result) {
	if len(changed) == 0 {
		return nil
	}
	ids := make([]string, len(changed))
	for i, res := range changed {
		ids[i] = res.lease.ID
	}
	entries, bad, err := r.pool.Look(ctx, ids)
	if err != nil || len(bad) > 0 {
		r.health.heard(err)
		for _, b := range bad {
			r.log.Error("record cannot be read", zap.Error(b))
		}
	}
	for i, res := range changed {
		if err == nil && entries[i].Record.State != "" {
			res.back = entries[i].Record.URLRev != res.lease.Record.URLRev
			res.lease.Raw, res.lease.Record = entries[i].Raw, entries[i].Record
		}
		if res.attempts++; res.attempts <= judgeTries {
			rest = append(rest, res)
		}
	}
	return rest
}
