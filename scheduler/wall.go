package scheduler

import (
	"context"
	"time"

	"github.com/robfig/cron/v3"
)

const (
	wallEvery = 500 * time.Millisecond
	wallSlack = 250 * time.Millisecond // a wall clock slower than this was set back
)

// minder winds the cron up anew whenever the wall clock was set back. Each entry waits for
// the wall clock to reach its next time: after a step back by an hour nothing would be done
// for an hour, no tick either.
func minder(ctx context.Context, clock *cron.Cron) {
	for last := time.Now(); ctx.Err() == nil; {
		pause(ctx, wallEvery)
		now := time.Now()
		if setBack(last, now) > wallSlack && ctx.Err() == nil {
			clock.Stop() // entries that are running go on
			clock.Start()
		}
		last = now
	}
}

// setBack is by how much the wall clock fell behind the monotonic one between two readings.
func setBack(from, to time.Time) time.Duration {
	return to.Sub(from) - to.Round(0).Sub(from.Round(0))
}
