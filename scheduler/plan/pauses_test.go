package plan_test

import (
	"testing"
	"time"

	"proxyward/scheduler/plan"
	"proxyward/scheduler/policy"
)

func TestThePauseThatRunsWhenAnOutageEnds(t *testing.T) {
	// At the earliest failures come at 0, 24, 72, 168, 360, 744, 1512 and 2952 s (a fifth under 30, 60, 120 … s, and
	// of the seventh, 30 m at most, downwards only).
	for _, c := range []struct {
		name string
		s    plan.Settings
		want [3]time.Duration // after 1 m, 10 m, 1 h
		once time.Duration
	}{
		{"usual: the second pause, the fifth, the cap", usual(), [3]time.Duration{72 * time.Second, 576 * time.Second, 30 * time.Minute}, 36 * time.Second},
		{"no growth", with(func(s *plan.Settings) { s.Policy.Cooldown.Factor = 1 }), [3]time.Duration{36 * time.Second, 36 * time.Second, 36 * time.Second}, 36 * time.Second},
		{"silence pauses longer", with(func(s *plan.Settings) {
			s.Policy.Cooldown.Reasons = map[string]policy.Rule{"timeout": {Base: 10 * time.Minute}}
		}), [3]time.Duration{12 * time.Minute, 24 * time.Minute, 30 * time.Minute}, 12 * time.Minute},
	} {
		for i, w := range plan.Of(c.s).Wait {
			if w.Longest != c.want[i] || w.Once != c.once {
				t.Errorf("%s: after %v at most %v, after one failure %v; want %v, %v", c.name, w.Outage, w.Longest, w.Once, c.want[i], c.once)
			}
		}
	}
	if w := plan.Of(usual()).Wait[1]; w.Trials != 3005 { // 5 at once, and in each of 600 seconds
		t.Errorf("%d trials in %v", w.Trials, w.Outage)
	}
}
