package policy

import (
	"math"
	"time"
)

// pause is how long the nth failure under rule r cools: dice in [0,1) places it within
// the jitter. It never exceeds r.Max; at the cap the jitter is downwards only, so that
// many endpoints there do not return together. What the peer asks for is never cut short
// by the jitter, only by r.Max.
func (r Rule) pause(n int, retryAfter time.Duration, dice float64) time.Duration {
	jitter, limit := 0.0, float64(r.Max)
	if r.Jitter != nil {
		jitter = *r.Jitter
	}
	base := max(float64(r.Base), 1) // not 0: the power can be infinite
	grown := min(base*math.Pow(max(r.Factor, 1), float64(n-1)), limit)
	p := grown * (1 + jitter*(2*dice-1))
	if grown == limit || p > limit {
		p = limit * (1 - jitter*dice)
	}
	if r.HonourRetryAfter != nil && *r.HonourRetryAfter && float64(retryAfter) > p {
		p = min(float64(retryAfter)*(1+jitter*dice), limit)
	}
	return time.Duration(p)
}

// around scatters d over width, half before and half after.
func around(d, width time.Duration, dice float64) time.Duration {
	return max(d+time.Duration(float64(width)*(dice-0.5)), 0)
}
