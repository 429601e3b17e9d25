package scheduler

import "go.uber.org/zap"

// sums are what a daemon did for one check since it last told.
type sums struct{ claimed, trials, expired, daemons int }

// report writes one line for a tick in which something was done, and one more for what needs
// its own.
func (r *runner) report() {
	r.claiming.Lock()
	s := r.sum
	r.sum = sums{daemons: s.daemons}
	r.claiming.Unlock()
	results, moved := r.committed.Swap(0), r.moved.Swap(0)
	if kept := r.guardian.floored.Swap(0); kept > 0 {
		r.log.Error("floor reached: failing endpoints stay eligible, for there would be too few", zap.Int64("failures", kept))
	}
	if untold := r.untold.Swap(0); untold > 0 {
		r.log.Info("very many moves: not each has a line", zap.Int64("left_out", untold))
	}
	if s.claimed+s.expired == 0 && results == 0 {
		return
	}
	r.mu.Lock()
	due, size := r.left, r.size
	r.mu.Unlock()
	r.log.Info("worked", zap.Int("probes", s.claimed), zap.Int("trials", s.trials), zap.Int64("results", results), zap.Int64("moved", moved),
		zap.Int("due", due), zap.Int("expired_leases", s.expired), zap.Int("pool", size), zap.Int("daemons", s.daemons))
}
