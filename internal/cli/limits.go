package cli

import (
	"time"

	"go.uber.org/zap"

	"proxyward/configs"
	"proxyward/scheduler/plan"
)

// tellLimits warns where the process may not have as many files and sockets open as its
// configured concurrency can take: probes would fail, and by our own fault.
func tellLimits(c *configs.Config, log *zap.Logger) {
	var checks []plan.Settings
	for _, check := range c.Checks {
		checks = append(checks, plan.Settings{Concurrency: check.Limits.Concurrency})
	}
	for _, w := range processOf(c).Warnings(checks) {
		if w.Code == "too_few_descriptors" {
			log.Warn(w.What, zap.String("what to do", w.Mend))
		}
	}
}

// stopMargin is what a stop takes beside the probes in flight: commits, leases, farewells.
const stopMargin = 10 * time.Second

// surroundings looks at what the configuration asks of the process's limits and of the
// patience of who stops it.
func (r *reloader) surroundings() {
	tellLimits(r.config, r.log)
	longest := r.flags.grace
	for _, c := range r.config.Checks {
		if r.flags.grace == 0 {
			longest = max(longest, c.Timeout)
		}
	}
	r.drain.Store(int64(longest + stopMargin))
}
