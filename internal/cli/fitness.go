package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"proxyward/configs"
	"proxyward/store"
	"proxyward/store/health"
)

const (
	firstLook  = 3 * time.Second // Redis is waited for so long before the daemon starts without it
	lookAgain  = 5 * time.Second
	evictWords = "; to run all the same: --allow-eviction, or redis.allow_eviction: true"
)

// fitness looks whether a daemon may run on this Redis: one that drops keys when memory is
// full loses endpoints, and a script that lacks a right stops half-way.
type fitness struct {
	place  place
	store  *store.Store
	checks []string
	allow  bool // a policy that evicts is the operator's own will
	log    *zap.Logger
}

func newFitness(at place, st *store.Store, c *configs.Config, allow bool, log *zap.Logger) *fitness {
	f := &fitness{place: at, store: st, allow: allow || c.Redis.AllowEviction, log: log}
	for _, check := range c.Checks {
		f.checks = append(f.checks, check.Name)
	}
	return f
}

// admit lets a daemon run, or says why not. While Redis does not answer the daemon runs, and
// ctx ends when Redis comes and is not fit; fit waits for that look and gives its error.
func (f *fitness) admit(ctx context.Context) (run context.Context, fit func() error, err error) {
	if f.place.embedded { // it has no policy and no users
		return ctx, func() error { return nil }, nil
	}
	known, err := f.atStart(ctx)
	if err != nil || known {
		return ctx, func() error { return nil }, err
	}
	run, stop := context.WithCancel(ctx)
	found := make(chan error, 1)
	go func() {
		err := f.whenItComes(run)
		if found <- err; err != nil {
			stop()
		}
	}()
	return run, func() error { stop(); return <-found }, nil
}

// atStart refuses what is not fit. known is false when Redis does not answer yet.
func (f *fitness) atStart(ctx context.Context) (known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	return f.look(ctx)
}

// whenItComes waits until Redis answers, and then does as atStart.
func (f *fitness) whenItComes(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookAgain):
		}
		if known, err := f.atStart(ctx); known {
			return err
		}
	}
}

func (f *fitness) look(ctx context.Context) (known bool, err error) {
	facts, err := f.store.Glance(ctx, f.checks)
	if err != nil {
		return false, nil // the daemon itself tells that Redis is away, and why
	}
	evicts, lacks, unsure := health.Fitness(facts)
	for _, found := range unsure {
		f.log.Warn("redis: "+found.What, zap.String("what to do", found.Mend))
	}
	for _, found := range lacks {
		err = errors.Join(err, f.refusal(found))
	}
	for _, found := range evicts {
		if f.allow {
			f.log.Warn("redis: "+found.What, zap.String("what to do", found.Mend))
			continue
		}
		found.Mend += evictWords
		err = errors.Join(err, f.refusal(found))
	}
	for _, check := range f.checks {
		if newer := f.store.Pool(check).Known(ctx); errors.As(newer, new(store.ErrNewer)) {
			err = errors.Join(err, newer)
		}
	}
	return true, err
}

func (f *fitness) refusal(found health.Finding) error {
	name := f.place.name
	if len(found.Nodes) > 0 {
		name = strings.Join(found.Nodes, ", ")
	}
	return fmt.Errorf("will not run on the Redis at %s: %s: %s", name, found.What, found.Mend)
}
