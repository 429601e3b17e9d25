package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"proxyward/configs"
	"proxyward/internal/admin"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/store"
)

// watchEvery is how often the file is looked at, where it is watched.
const watchEvery = 2 * time.Second

// reloader takes a changed configuration into the running daemon. A bad file changes nothing.
type reloader struct {
	*app
	flags  *runFlags
	daemon *scheduler.Daemon
	prober *prober.Prober
	store  *store.Store
	level  zap.AtomicLevel
	log    *zap.Logger
	config *configs.Config // that is in force
	first  *configs.Config // of the start: what takes effect at a start only is still as it says
	desk   *desk
	drain  atomic.Int64 // how long a stop may take, nanoseconds

	outcomes int // that were written down: each is another text
}

// run reloads at SIGHUP and, where the configuration says so, when the file changes, until
// ctx ends.
func (r *reloader) run(ctx context.Context, around func(reload func() (taken bool))) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	look := time.NewTicker(watchEvery)
	defer look.Stop()
	seen := r.stamp()
	r.tellOutcome(true) // of the start
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		case <-look.C:
			now := r.stamp()
			if !r.config.Reload.Watch || now == seen {
				continue
			}
		}
		seen = r.stamp()
		around(func() (taken bool) {
			taken = r.reload(ctx)
			r.tellOutcome(taken)
			return taken
		})
	}
}

// tellOutcome writes down what came of a reload, for who asked for it.
func (r *reloader) tellOutcome(taken bool) {
	r.outcomes++
	if err := r.answer(r.outcomes, taken); err != nil {
		r.log.Warn("what came of a reload cannot be written down", zap.Error(err))
	}
}

// stamp tells versions of the file apart; empty where there is none.
func (r *reloader) stamp() string {
	path := r.flags.config
	if path == "" {
		path = defaultConfig
	}
	i, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(i.ModTime(), i.Size())
}

// reload reads and validates the whole, says what differs, and swaps; taken is false where
// the old configuration stays.
func (r *reloader) reload(ctx context.Context) (taken bool) {
	config, _, err := r.runConfig(r.flags)
	var access admin.Access
	if err == nil {
		access, err = accessOf(config.Admin)
	}
	if err == nil {
		err = r.daemon.Apply(config.Checks, config.Scheduler.Tick)
	}
	r.desk.tally.Reloaded(err == nil)
	if err != nil {
		r.refused(ctx, err)
		return false
	}
	r.desk.take(config.Checks)
	r.desk.renew(access, r.log)
	differences := slices.DeleteFunc(config.Differences(r.config), func(d string) bool { return !atOnce(d) })
	for _, d := range differences {
		r.log.Info("configuration changed", zap.String("what", d))
	}
	for _, d := range config.Differences(r.first) {
		if !atOnce(d) {
			differences = append(differences, d)
			r.log.Warn("configuration changed, but this takes effect at the next start only", zap.String("what", d))
		}
	}
	for _, w := range config.Warnings {
		r.log.Warn(w)
	}
	r.prober.Resize(config.Prober.Concurrency)
	if level, err := levelOf(config.Log.Level); err == nil {
		r.level.SetLevel(level)
	}
	r.config = config
	r.surroundings()
	r.log.Info("configuration reloaded", zap.Int("differences", len(differences)))
	return true
}

// atOnce reports whether a difference takes effect without a restart.
func atOnce(difference string) bool {
	for _, fixed := range []string{"redis.", "admin.listen", "admin.pprof", "log.format"} {
		if strings.HasPrefix(difference, fixed) {
			return false
		}
	}
	return true
}

// refused says what is wrong with the new configuration, in the log and in each pool's events.
func (r *reloader) refused(ctx context.Context, err error) {
	var faults *configs.Faults
	if errors.As(err, &faults) {
		for _, one := range faults.List {
			r.log.Error("configuration refused: the old one stays", zap.String("fault", one.String()))
		}
	} else {
		r.log.Error("configuration refused: the old one stays", zap.Error(err))
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for _, c := range r.config.Checks {
		if err := r.store.Pool(c.Name).Tell(ctx, "reload_refused", "the new configuration is refused: the old one stays"); err != nil {
			return // redis is away; the log has it
		}
	}
}

// serve runs the daemon until ctx ends, with what surrounds it: reloads, and systemd.
func serve(ctx context.Context, r *reloader) error {
	n := newNotifier(r.daemon, r.store, r.log, func() time.Duration { return time.Duration(r.drain.Load()) })
	r.surroundings()
	over := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	serving, shut := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, r.desk.stopping)
	var around sync.WaitGroup
	around.Go(func() { n.run(ctx, over) })
	around.Go(func() { r.run(ctx, n.reloading) })
	around.Go(func() { r.desk.run(serving) }) // until the last result is written
	err := r.daemon.Run(ctx)
	cancel()
	close(over)
	shut()
	around.Wait()
	return err
}
