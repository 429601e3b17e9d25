package prober

import (
	"math"
	"runtime/metrics"
	"time"
)

// The limiter keeps what is in flight within what the processor can serve: it watches how
// long goroutines that could run wait for a processor, and lets more or fewer probes in.
// A probe that waits for us is not the proxy's fault, so it is better not begun.
const (
	firstLimit = 128 // probes in flight before anything was measured
	leastLimit = 16
	shortWait  = 10 * time.Millisecond // below: more probes can be served
	longWait   = 40 * time.Millisecond // above: fewer
	adjustment = 100 * time.Millisecond
)

const waits = "/sched/latencies:seconds" // a histogram kept by the Go runtime

// limiter decides how many probes may be in flight, from leastLimit up. The zero value works.
type limiter struct {
	sample []metrics.Sample
	before []uint64
}

// next is the limit for the next moment, most at most; busy says whether the present one was reached.
func (l *limiter) next(limit int, busy bool, most int) int {
	wait := l.wait()
	switch {
	case wait > longWait:
		return max(min(leastLimit, most), limit*7/10)
	case wait < shortWait && busy:
		return min(most, limit+limit/4+1)
	}
	return limit
}

// wait is what nine of ten goroutines waited at most for a processor since the last call.
func (l *limiter) wait() time.Duration {
	if l.sample == nil {
		l.sample = []metrics.Sample{{Name: waits}}
	}
	metrics.Read(l.sample)
	if l.sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	h := l.sample[0].Value.Float64Histogram()
	if l.before == nil {
		l.before = make([]uint64, len(h.Counts))
	}
	since, total := make([]uint64, len(h.Counts)), uint64(0)
	for i, n := range h.Counts {
		since[i] = n - l.before[i]
		total += since[i]
	}
	copy(l.before, h.Counts)
	return quantile(h.Buckets, since, total*9/10)
}

// quantile is the upper bound of the bucket that holds the rank-th value.
func quantile(bounds []float64, counts []uint64, rank uint64) time.Duration {
	for i, n := range counts {
		if rank < n {
			if upper := bounds[i+1]; !math.IsInf(upper, 1) {
				return time.Duration(upper * float64(time.Second))
			}
			return time.Duration(bounds[i] * float64(time.Second))
		}
		rank -= n
	}
	return 0
}
