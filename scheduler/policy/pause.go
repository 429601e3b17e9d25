package policy

import (
	"math"
	"time"
)

// pause is how long the nth failure under rule r cools: dice in [0,1) places it within
// the jitter. It never exceeds r.Max; near the cap the jitter is downwards only, so that
// many endpoints at the cap do not return together.
func (r Rule) pause(n int, retryAfter time.Duration, dice float64) time.Duration {
	jitter := 0.0
	if r.Jitter != nil {
		jitter = *r.Jitter
	}
	grown := float64(r.Base) * math.Pow(max(r.Factor, 1), float64(n-1))
	p := grown * (1 + jitter*(2*dice-1))
	if limit := float64(r.Max); limit > 0 && p > limit {
		p = limit * (1 - jitter*dice)
	}
	if r.HonourRetryAfter != nil && *r.HonourRetryAfter && float64(retryAfter) > p {
		p = min(float64(retryAfter)*(1+jitter*dice), float64(r.Max))
	}
	return time.Duration(p)
}

// around scatters d over width, half before and half after.
func around(d, width time.Duration, dice float64) time.Duration {
	return max(d+time.Duration(float64(width)*(dice-0.5)), 0)
}
