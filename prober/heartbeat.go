package prober

import (
	"sync"
	"time"
)

const (
	beat     = 50 * time.Millisecond
	longGap  = 500 * time.Millisecond // a beat this late means the process did not run
	lateBy   = 20 * time.Millisecond  // a beat this late is noted
	tooLate  = 0.25                   // a probe of which we were late for this share was starved
	gapsKept = 10 * time.Minute       // no probe lasts longer
)

// Heartbeat notices when this process itself was not running: stopped, starved or asleep.
// The zero value is ready; Beat must be called every beat for it to notice anything.
type Heartbeat struct {
	mu   sync.Mutex
	last time.Time
	gaps []gap
}

// gap is a time in which the process should have run and did not.
type gap struct{ from, to time.Time }

// Beat notes that the process runs now.
func (h *Heartbeat) Beat(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	due := h.last.Add(beat)
	if !h.last.IsZero() && now.Sub(due) >= lateBy {
		h.gaps = append(h.gaps, gap{due, now})
	}
	h.last = now
	for len(h.gaps) > 0 && now.Sub(h.gaps[0].to) > gapsKept {
		h.gaps = h.gaps[1:]
	}
}

// Stalled reports whether the process did not run for a while between the two times: once
// for longGap, or in all for a good part of it.
func (h *Heartbeat) Stalled(from, to time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	gaps := h.gaps
	if due := h.last.Add(beat); !h.last.IsZero() && to.After(due) { // the beat that is still to come
		gaps = append(gaps[:len(gaps):len(gaps)], gap{due, to})
	}
	var late time.Duration
	for i := len(gaps) - 1; i >= 0 && gaps[i].to.After(from); i-- {
		g := gaps[i]
		if !g.from.Before(to) {
			continue
		}
		if g.to.Sub(g.from) >= longGap {
			return true
		}
		late += earlier(g.to, to).Sub(later(g.from, from))
	}
	return float64(late) > tooLate*float64(to.Sub(from))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
