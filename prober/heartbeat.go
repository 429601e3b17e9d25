package prober

import (
	"context"
	"sync"
	"time"
)

const (
	beat    = 100 * time.Millisecond
	longGap = 500 * time.Millisecond // a beat this late means the process did not run
	gapsOld = 10 * time.Minute       // no probe lasts longer
)

// Heartbeat notices when this process itself was not running: stopped, starved or asleep.
// The zero value is ready; Run must be running for it to notice anything.
type Heartbeat struct {
	mu   sync.Mutex
	gaps []gap
}

type gap struct{ from, to time.Time }

// Run beats until ctx ends.
func (h *Heartbeat) Run(ctx context.Context) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := time.Now()
			h.note(last, now)
			last = now
		}
	}
}

func (h *Heartbeat) note(last, now time.Time) {
	if now.Sub(last) < longGap {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.gaps) > 0 && now.Sub(h.gaps[0].to) > gapsOld {
		h.gaps = h.gaps[1:]
	}
	h.gaps = append(h.gaps, gap{last, now})
}

// Stalled reports whether the process did not run for a while between the two times.
func (h *Heartbeat) Stalled(from, to time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.gaps {
		if g.from.Before(to) && g.to.After(from) {
			return true
		}
	}
	return false
}
