package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/zap"

	"proxyward/checks/endpoint"
	"proxyward/internal/sources"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// origin is where a list comes from.
type origin interface {
	Name() string
	// Read reads the list whole; same is true, and the list empty, when it is the version
	// that applied names.
	Read(ctx context.Context, applied string) (l sources.List, digest string, same bool, err error)
}

// refresher keeps the pool in step with one source.
type refresher struct {
	*runner
	origin   origin
	name     string // as records say it
	schedule cron.Schedule
	due      chan struct{}
	loaded   atomic.Bool       // the configuration was just loaded: the list is read here, whoever else does
	told     map[string]string // faults that stand, each with what was told of it, so that it is told once
}

func newRefresher(r *runner, s Source) (*refresher, error) {
	var from origin = sources.File{Path: s.File, Scheme: s.Scheme}
	if s.URL != "" {
		from = sources.Remote{URL: s.URL, Scheme: s.Scheme, AllowPrivate: s.AllowPrivate}
	}
	schedule, err := cron.ParseStandard(s.Refresh)
	if err != nil {
		return nil, fmt.Errorf("schedule refresh of %s: %w", from.Name(), err)
	}
	f := &refresher{runner: r, origin: from, name: from.Name(), schedule: schedule, due: make(chan struct{}, 1), told: map[string]string{}}
	f.loaded.Store(true)
	return f, nil
}

// enter adds the source's own entry to the cron.
func (f *refresher) enter(clock *cron.Cron) cron.EntryID {
	return clock.Schedule(f.schedule, cron.FuncJob(f.soon))
}

// readAgain reads every list of the check now, as after the start.
func (r *runner) readAgain() {
	for _, f := range r.refreshers {
		f.loaded.Store(true)
		f.soon()
	}
}

// soon asks for a refresh.
func (f *refresher) soon() {
	select {
	case f.due <- struct{}{}:
	default: // the one before is still waiting
	}
}

// interval is how far apart two firings lie.
func (f *refresher) interval() time.Duration {
	next := f.schedule.Next(time.Now())
	return max(f.schedule.Next(next).Sub(next), time.Second)
}

// loop refreshes at once, whenever the cron entry fires, and by a watchdog on the
// monotonic clock when it has not fired for two intervals (a wall clock set back).
func (f *refresher) loop(ctx context.Context) {
	for ctx.Err() == nil {
		wait := 2*f.interval() + time.Minute
		f.contain("refresh", f.name, func() {
			if err := f.refresh(ctx); err != nil {
				wait = max(firstPause, f.health.wait())
				f.health.heard(err)
			}
		})
		watchdog := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-f.due:
		case <-watchdog.C:
		}
		watchdog.Stop()
	}
}

// refresh reads the source and applies it. Only Redis's faults are errors: a source that
// cannot be read, is empty or lost too much is told, and retires nobody.
func (f *refresher) refresh(ctx context.Context) error {
	if !f.health.ready() {
		return errNotReady
	}
	if !f.fitsNow(ctx) {
		return f.unfit()
	}
	mine, applied, err := f.pool.HoldSource(ctx, f.name, f.Name, f.interval()*3/2+leaseMargin, f.loaded.Load())
	if err != nil {
		return err
	}
	f.loaded.Store(false)
	if !mine {
		return nil
	}
	list, digest, same, err := f.origin.Read(ctx, applied)
	switch {
	case err != nil:
		f.complain("list cannot be read: nobody is retired", err.Error())
		f.Watch.Unlisted(f.check.Name, f.name)
		return nil
	case same:
		f.Watch.Listed(f.check.Name, f.name, -1)
		clear(f.told)
		return nil
	}
	return f.apply(ctx, list, digest)
}

var errNotReady = errors.New("redis is away")

// apply brings the pool in step with a list that was read whole.
func (f *refresher) apply(ctx context.Context, list sources.List, digest string) error {
	f.rejected(list)
	if len(list.Accepted) == 0 {
		f.complain("list has no endpoint in it: nobody is retired", "")
		f.Watch.Unlisted(f.check.Name, f.name)
		return nil
	}
	listed := make(map[string]bool, len(list.Accepted))
	entries := make([]endpoint.Endpoint, len(list.Accepted))
	for i, a := range list.Accepted {
		entries[i] = a.Endpoint
		listed[a.Endpoint.ID()] = true
	}
	before, missing, err := f.missing(ctx, listed)
	if err != nil {
		return err
	}
	sum, err := Enroll(ctx, f.pool, f.name, record.BySource, entries, f.check.spread(len(entries)))
	if err != nil {
		return err
	}
	shrunk := float64(len(missing)) > f.check.Missing.MaxShrink*float64(before)
	if shrunk {
		f.complain("list lost too much at once: nobody is retired (raise sources.max_shrink if it is right)",
			fmt.Sprintf("lost %d of %d", len(missing), before))
		f.Watch.Unlisted(f.check.Name, f.name)
	} else if sum.Retired, err = unlist(ctx, f.pool, f.name, missing, f.check.Missing.Keep); err != nil {
		return err
	}
	if sum.New+sum.Returned+sum.Changed == 0 && shrunk {
		return nil
	}
	f.log.Info("list applied", zap.String("source", f.name), zap.Int("listed", len(entries)), zap.Int("new", sum.New),
		zap.Int("returned", sum.Returned), zap.Int("changed", sum.Changed), zap.Int("retired", sum.Retired))
	f.claimAgain()
	if shrunk {
		return nil
	}
	f.Watch.Listed(f.check.Name, f.name, len(entries))
	clear(f.told)
	return f.pool.SourceApplied(ctx, f.name, digest)
}

// missing finds the endpoints the pool has from this source and the list has no more.
func (f *refresher) missing(ctx context.Context, listed map[string]bool) (before int, missing []string, err error) {
	err = f.pool.Scan(ctx, func(entries []store.Entry, _ []error) error {
		for _, e := range entries {
			if !slices.Contains(e.Record.Sources, f.name) {
				continue
			}
			before++
			if !listed[e.ID] {
				missing = append(missing, e.ID)
			}
		}
		return nil
	})
	return before, missing, err
}

// unlist takes a source off endpoints; those without another are retired.
func unlist(ctx context.Context, p *store.Pool, source string, ids []string, keep bool) (retired int, err error) {
	outcomes, err := Amend(ctx, p, ids, func(e store.Entry, now int64) (store.Change, bool, error) {
		return change(policy.Unlist(e.Record, source, keep, policy.At{Ms: now, By: record.BySource}))
	})
	for _, o := range outcomes {
		if o.Written {
			retired++
		}
	}
	return retired, err
}

// rejected tells of lines that name no endpoint.
func (f *refresher) rejected(list sources.List) {
	if n := len(list.Rejected); n > 0 {
		first := list.Rejected[0]
		f.complain("list has lines that name no endpoint", fmt.Sprintf("%d lines, the first is line %d: %s", n, first.Line, first.Reason))
	}
}

// complain says what is wrong with the source, once while it stands.
func (f *refresher) complain(what, why string) {
	if before, stands := f.told[what]; !stands || before != why {
		f.log.Error(what, zap.String("source", f.name), zap.String("why", why))
	}
	f.told[what] = why
}
