package scheduler

import (
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"proxyward/scheduler/suspect"
)

const complainAt = 20 // dropped reports in a minute that are worth a warning, where they are the larger part

// faulty are the causes that say that some worker does it wrong. Those that ordinary
// workers cannot avoid are not among them.
var faulty = []suspect.Cause{suspect.Malformed, suspect.Oversized, suspect.Password, suspect.Unknown, suspect.Repeated}

// complaint sums up a minute's reports, to tell of those that were dropped once.
type complaint struct {
	since  time.Time
	all    int
	counts map[suspect.Cause]int
}

// tell writes one line for a round that had work, and warns, once a minute at most, when
// many reports come to nothing.
func (p *reporting) tell(counts map[string]int) {
	fields := numbers(counts)
	if len(fields) > 0 {
		p.log.Info("reports of workers", fields...)
	}
	if time.Since(p.dropping.since) > complainEvery {
		p.dropping = complaint{since: time.Now(), counts: map[suspect.Cause]int{}}
	}
	if wrong := p.dropping.add(counts); wrong != nil {
		p.log.Warn("reports of workers are dropped: see docs/reports.md for what a report must be", numbers(wrong)...)
	}
}

// add sums up one round; it gives back the causes once they are worth a warning.
func (c *complaint) add(counts map[string]int) map[suspect.Cause]int {
	if c.counts == nil {
		return nil // told already
	}
	for _, cause := range append(suspect.Dropped, suspect.Applied) {
		c.all += counts[string(cause)]
	}
	wrong := 0
	for _, cause := range faulty {
		if n := counts[string(cause)]; n > 0 {
			c.counts[cause] += n
		}
		wrong += c.counts[cause]
	}
	if c.counts[suspect.Password] == 0 && (wrong < complainAt || 2*wrong < c.all) {
		return nil
	}
	told := c.counts
	c.counts = nil
	return told
}

func numbers[K ~string](counts map[K]int) (fields []zap.Field) {
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		fields = append(fields, zap.Int(string(word), counts[word]))
	}
	return fields
}
