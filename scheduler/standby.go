package scheduler

import (
	"sync/atomic"
	"time"
)

const remindEvery = time.Minute

// standby is whether this daemon stands by because another one loaded a different
// configuration of the check later; the zero value works.
type standby struct {
	on   atomic.Bool
	told time.Time
}

// heard takes note of what a claim said, and says it aloud: at once and then every minute.
func (s *standby) heard(r *runner, on bool) {
	switch {
	case on && (!s.on.Load() || time.Since(s.told) > remindEvery):
		s.told = time.Now()
		r.log.Error("standing by: another daemon loaded a different configuration of this check later, and that one counts; give both the same, or stop one")
	case !on && s.on.Load():
		r.log.Warn("this configuration of the check counts again: no daemon with the other one is alive")
	}
	s.on.Store(on)
}
