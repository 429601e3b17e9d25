package witness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"proxyward/scheduler/suspect"
	"proxyward/store"
	"proxyward/store/record"
)

const (
	every   = 200 * time.Millisecond // between two looks
	watched = 1000                   // members looked at each time
	low     = 10                     // of the lowest: who is brought back by an increment stands there
	atOnce  = 1000                   // entries of a stream read at a time
)

// Options say how to watch.
type Options struct {
	For     time.Duration
	Monitor bool // watch every command: a test server, a user who may
}

// Watch watches the workers of a pool for a time, or until ctx is over.
func Watch(ctx context.Context, p *store.Pool, o Options) (Verdict, error) {
	w := &watcher{pool: p, last: map[string]store.Sight{}, overdue: map[string]bool{}}
	if err := w.begin(ctx); err != nil {
		return Verdict{}, err
	}
	over, stop := context.WithTimeout(ctx, o.For)
	defer stop()
	var tape *Tape
	ended := make(chan error, 1)
	if o.Monitor {
		tape = newTape(p.WorkersKeys(), &w.found)
		began := make(chan struct{})
		go func() { ended <- p.Monitor(over, func() { close(began) }, tape.Line) }()
		select {
		case <-began:
		case err := <-ended:
			return Verdict{}, err
		}
	}
	for tick := time.NewTicker(every); over.Err() == nil; {
		if err := w.look(ctx); err != nil {
			return Verdict{}, err
		}
		select {
		case <-over.Done():
			tick.Stop()
		case <-tick.C:
		case err := <-ended:
			if over.Err() == nil {
				return Verdict{}, cmp.Or(err, errors.New("monitor: Redis ended it"))
			}
			ended <- err
		}
	}
	if ctx.Err() != nil {
		return Verdict{}, ctx.Err()
	}
	if tape != nil {
		if err := <-ended; err != nil {
			return Verdict{}, err
		}
		w.v.Allocations, w.v.Nil, w.v.Exact = tape.close()
	}
	return w.end(ctx)
}

// watcher looks at a pool again and again.
type watcher struct {
	pool    *store.Pool
	found   findings
	v       Verdict
	event   string // the last that was read
	report  string
	last    map[string]store.Sight // by id, as it was at the last look
	moved   map[string]bool        // what the last look read of events
	overdue map[string]bool
}

// begin takes the members with the fewest allocations: the next ones go to them.
func (w *watcher) begin(ctx context.Context) (err error) {
	if w.event, w.report, err = w.pool.Ends(ctx); err != nil {
		return err
	}
	ids, err := w.pool.Lowest(ctx, watched)
	for _, id := range ids {
		w.last[id] = store.Sight{}
	}
	return err
}

func (w *watcher) look(ctx context.Context) error {
	lowest, err := w.pool.Lowest(ctx, low)
	if err != nil {
		return err
	}
	for _, id := range lowest {
		if _, known := w.last[id]; !known {
			w.last[id] = store.Sight{}
		}
	}
	ids := slices.Collect(maps.Keys(w.last))
	sights, err := w.pool.See(ctx, ids)
	if err != nil {
		return err
	}
	moved, err := w.events(ctx) // after the look: whoever moved since the last one is among them
	if err != nil {
		return err
	}
	for i, now := range sights {
		w.compare(w.last[ids[i]], now, moved[ids[i]] || w.moved[ids[i]])
		w.last[ids[i]] = now
	}
	w.moved = moved // some of them after this look
	for id := range moved {
		if _, known := w.last[id]; !known && len(w.last) < 2*watched {
			w.last[id] = store.Sight{}
		}
	}
	if err := w.reports(ctx); err != nil {
		return err
	}
	return w.jobs(ctx)
}

// compare holds two looks at an endpoint against each other.
func (w *watcher) compare(before, now store.Sight, moved bool) {
	if !now.Member {
		return
	}
	if now.State != record.Eligible {
		what := fmt.Sprintf("put into the eligible set, though its record says %s", now.State)
		if now.State == "" {
			what = "put into the eligible set, though it has no record"
		}
		w.found.add(Removed, now.ID, what)
		return
	}
	if now.Score < 0 || now.Score != math.Trunc(now.Score) {
		w.found.add(Lowered, now.ID, "its score is no count of allocations")
	}
	if !before.Member || before.State != record.Eligible || moved {
		return
	}
	switch {
	case now.Score < before.Score:
		w.found.add(Lowered, now.ID, "its score fell while it stayed eligible")
	default:
		w.v.Allocations += int64(now.Score - before.Score)
	}
}

// events are the endpoints that moved since the last look. Where there are too many to read,
// nobody's score is compared.
func (w *watcher) events(ctx context.Context) (moved map[string]bool, err error) {
	moved = map[string]bool{}
	for {
		events, last, err := w.pool.Events(ctx, w.event, atOnce)
		if err != nil {
			return nil, err
		}
		w.event = last
		for _, e := range events {
			moved[e["endpoint"]] = true
		}
		if len(events) < atOnce {
			return moved, nil
		}
	}
}

func (w *watcher) reports(ctx context.Context) error {
	for {
		reports, last, err := w.pool.Reports(ctx, w.report, atOnce)
		if err != nil {
			return err
		}
		w.report = last
		for _, raw := range reports {
			w.v.Reports++
			switch _, cause := suspect.Read(raw); cause {
			case suspect.Malformed:
				w.found.add(BadReport, "", "without an endpoint, with an outcome nobody knows, or with a time that is none")
			case suspect.Oversized:
				w.found.add(BadReport, "", "a field is too long, or all together are")
			case suspect.Password:
				w.found.add(BadReport, "", "names a URL with its password instead of the endpoint's id")
			}
		}
		if len(reports) < atOnce {
			return nil
		}
	}
}

func (w *watcher) jobs(ctx context.Context) error {
	tokens, err := w.pool.Overdue(ctx, atOnce)
	for _, token := range tokens {
		if len(w.overdue) < 100*atOnce {
			w.overdue[token] = true
		}
	}
	return err
}

// end looks at the whole pool once.
func (w *watcher) end(ctx context.Context) (Verdict, error) {
	report, err := w.pool.Fsck(ctx)
	if err != nil {
		return Verdict{}, err
	}
	for _, v := range report.Violations {
		switch {
		case v.Invariant == "I8":
			w.found.add(Counts, v.Endpoint, v.What)
		case v.Invariant == "I2":
			w.found.add(Removed, v.Endpoint, v.What)
		}
	}
	w.v.Abandoned, w.v.Findings = len(w.overdue), w.found.sorted()
	w.v.Kept = w.v.Allocations > 0 && len(w.v.Findings) == 0
	return w.v, nil
}
