package cli

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"proxyward/configs"
	"proxyward/internal/admin"
	"proxyward/internal/metrics"
	"proxyward/internal/operate"
	"proxyward/scheduler"
	"proxyward/store"
)

// tally is told what the daemon does: it counts, and remembers how the lists stand.
type tally struct {
	*metrics.Metrics
	lists admin.Lists
}

// newTally counts what the store does, too, from the next pool on.
func newTally(st *store.Store, v versionJSON) *tally {
	w := &tally{Metrics: metrics.New(metrics.Version{Version: v.Version, Commit: v.Revision})}
	st.Watch(w.Called)
	return w
}

// Listed takes note of a list that was read and found good.
func (w *tally) Listed(check, source string, endpoints int) {
	w.Metrics.Listed(check, source, endpoints)
	w.lists.Good(check, source, endpoints)
}

// Unlisted takes note of a refresh that retired nobody.
func (w *tally) Unlisted(check, source string) {
	w.Metrics.Unlisted(check, source)
	w.lists.Bad(check, source)
}

// Gone forgets a check that is no longer served.
func (w *tally) Gone(check string) {
	w.Metrics.Gone(check)
	w.lists.Gone(check)
}

// expect begins the counters of the checks and their lists.
func (w *tally) expect(checks []scheduler.Check) {
	for _, c := range checks {
		var lists []string
		for _, l := range c.Sources {
			lists = append(lists, operate.SourceName(l))
		}
		w.Expect(c.Name, lists)
	}
}

// standing reads how a pool stands, for the metrics.
func standing(st *store.Store) metrics.Reader {
	return func(ctx context.Context, check string) (s metrics.Standing, err error) {
		p := st.Pool(check).Discreet()
		if s.Status, err = p.Status(ctx); err != nil {
			return s, err
		}
		if s.Reports, err = p.ReportCounts(ctx); err != nil {
			return s, err
		}
		s.Repaired, err = p.Repaired(ctx)
		return s, err
	}
}

// pulse says whether a daemon still ticks.
type pulse struct{ *scheduler.Daemon }

// Stuck reports that no tick was completed for far too long.
func (p pulse) Stuck() bool { return p.Ticked() >= 2*p.TickEvery()+stuckAfter }

// desk is the HTTP interface of a daemon; the zero value is none.
type desk struct {
	server *admin.Server
	tally  *tally
	checks atomic.Pointer[operate.Configured]
}

// openDesk listens where the configuration says. What nobody asked for, and finds its port
// taken, is not worth a daemon that does not run.
func openDesk(c *configs.Config, at place, st *store.Store, d *scheduler.Daemon, w *tally, log *zap.Logger) (*desk, error) {
	k := &desk{tally: w}
	k.take(c.Checks)
	if c.Admin.Listen == "" {
		return k, nil
	}
	access, err := accessOf(c.Admin)
	if err != nil {
		return nil, err
	}
	k.server, err = admin.New(admin.Options{Listen: c.Admin.Listen, Beyond: c.Admin.Beyond(), Pprof: c.Admin.Pprof, Access: access,
		Store: st, Checks: func() operate.Configured { return *k.checks.Load() }, Daemon: pulse{d}, Metrics: w.Handler(), Lists: &w.lists,
		Words: at.trouble, Log: log})
	if err != nil && !c.Admin.Asked {
		log.Warn("the admin interface is not served: set admin.listen", zap.Error(err))
		return k, nil
	}
	if err != nil {
		return nil, err
	}
	log.Info("the admin interface listens", zap.String("address", k.server.Addr().String()), zap.Bool("token", access.Token != ""), zap.Bool("tls", access.Certificate != nil))
	return k, nil
}

// accessOf reads the token and the certificate of the moment.
func accessOf(c configs.Admin) (admin.Access, error) {
	if c.Listen == "" {
		return admin.Access{}, nil
	}
	token, tokenErr := c.Token()
	cert, err := c.Certificate()
	if err = errors.Join(tokenErr, err); err != nil {
		return admin.Access{}, fmt.Errorf("the admin interface at %s: %w", c.Listen, err)
	}
	return admin.Access{Token: token.Reveal(), Certificate: cert}, nil
}

// take is told the checks that are in force.
func (k *desk) take(checks []scheduler.Check) {
	c := operate.Configured(checks)
	k.checks.Store(&c)
	k.tally.expect(checks)
}

// renew takes the token and the certificate of the moment.
func (k *desk) renew(a admin.Access, log *zap.Logger) {
	if k.server != nil && k.server.Renew(a) {
		log.Warn("the admin interface keeps its token and certificate until the next start: a reload replaces them, and takes none away")
	}
}

// run serves until ctx ends.
func (k *desk) run(ctx context.Context) {
	if k.server != nil {
		k.server.Run(ctx)
	}
}

// stopping has /readyz say that the daemon stops.
func (k *desk) stopping() {
	if k.server != nil {
		k.server.Stopping()
	}
}
