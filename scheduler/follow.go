package scheduler

import (
	"context"
	"strconv"
	"sync"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

const (
	followEvery = time.Second // between looks at the events
	followOnce  = 500         // events in one read
	followMost  = 20          // reads in one look: about as many events as are kept
)

// follower knows how far the events of a pool were read.
type follower struct {
	mu    sync.Mutex // a reload has two runners follow for a moment
	after string     // the last one read; empty: none yet
}

// followed reports whether moves by this cause are told by who follows the events: any
// process can make them, a command that ends at once too. All others are told by the
// daemon that makes them.
func followed(by record.By) bool { return by == record.ByOperator || by == record.ByRepair }

// followLoop looks until ctx ends.
func (r *runner) followLoop(ctx context.Context) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		r.contain("follow", r.check.Name, func() { r.quietly(ctx, r.follow) })
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// follow tells what operators and repairs did since the last look, in any process; the first
// look only takes note of where the events end. What is no longer kept is not told.
func (r *runner) follow(ctx context.Context) error {
	f := r.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	last, err := r.pool.Latest(ctx, "", 1)
	if err != nil {
		return err
	}
	end := "0"
	if len(last) > 0 {
		end = last[0].ID
	}
	if f.after == "" {
		f.after = end
	}
	for n := 0; n < followMost && f.after != end; n++ {
		events, err := r.pool.Follow(ctx, f.after, followOnce)
		if err != nil {
			return err
		}
		if len(events) == 0 { // the end lies before: the pool was lost, or Redis's clock was set back
			f.after = end
			return nil
		}
		for _, e := range events {
			r.tellEvent(e.Fields)
		}
		if f.after = events[len(events)-1].ID; len(events) < followOnce {
			return nil
		}
	}
	return nil
}

// tellEvent writes a line for an entry of the events, if it is one to be told here.
func (r *runner) tellEvent(fields map[string]string) {
	by, from := record.By(fields["by"]), record.State(fields["from"])
	if !followed(by) || fields["endpoint"] == "*" { // what the check as a whole went through has lines of its own
		return
	}
	if from == store.Fresh {
		from = ""
	}
	pause, _ := strconv.ParseInt(fields["pause_ms"], 10, 64)
	r.tell(fields["endpoint"], record.Step{From: from, To: record.State(fields["to"]), Stage: fields["stage"],
		Reason: fields["reason"], Blame: fields["blame"], Detail: fields["detail"], By: by, PauseMs: pause, Probe: fields["probe"]})
}
