package demo

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/internal/cli/screen"
	"proxyward/internal/embedded"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// checkName names the check of the demo.
const checkName = "demo"

// Options say what is shown where.
type Options struct {
	Out   io.Writer
	Style screen.Style
	For   time.Duration // 0: until ctx ends
	Redis string        // embedded:// URL; empty: the default address, or a free one if that is taken
}

// Run shows the demo until its time is over or ctx ends; neither is an error.
func Run(ctx context.Context, o Options) error {
	began := time.Now()
	if o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.For)
		defer cancel()
	}
	server, err := startRedis(o.Redis)
	if err != nil {
		return err
	}
	defer server.Close()
	st, err := store.Open(store.Address{URL: server.URL()})
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := raise(cast, time.Now())
	if err != nil {
		return err
	}
	defer s.Close()
	return s.perform(ctx, o, server, st, began)
}

// startRedis takes a free port where the default one is taken: a demo has to work beside
// a `run`.
func startRedis(url string) (*embedded.Server, error) {
	if url != "" {
		return embedded.Start(url, embedded.Login{})
	}
	server, err := embedded.Start("embedded://", embedded.Login{})
	if err != nil {
		server, err = embedded.Start("embedded://127.0.0.1:0", embedded.Login{})
	}
	return server, err
}

// perform runs the daemon, the worker and the show, and waits for all of them.
func (s *stage) perform(ctx context.Context, o Options, server *embedded.Server, st *store.Store, began time.Time) error {
	check, err := s.check()
	if err != nil {
		return err
	}
	pool := st.Pool(checkName)
	list := make([]endpoint.Endpoint, len(s.members))
	for i, m := range s.members {
		list[i] = m.endpoint
	}
	if _, err := scheduler.Enroll(ctx, pool, checkName, record.BySource, list, 0); err != nil {
		return err
	}
	daemon := scheduler.NewDaemon(scheduler.Options{Store: st, Prober: prober.New(64), Checks: []scheduler.Check{check},
		Tick: time.Second, Grace: 500 * time.Millisecond})
	w := &worker{pool: pool, target: s.url()}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	var fault error
	all.Go(func() { defer stop(); fault = daemon.Run(ctx) })
	all.Go(func() { w.work(ctx) })
	show := &show{Options: o, stage: s, pool: pool, worker: w, redis: server.Addr(), began: began, out: map[string]exit{}}
	err = show.run(ctx)
	stop()
	all.Wait()
	return errors.Join(err, fault)
}

func (s *stage) url() string { return "http://" + s.target + "/" }

// check is what the daemon runs: as a configuration would say it, with short pauses.
func (s *stage) check() (scheduler.Check, error) {
	transaction, err := checks.Compile(checks.Spec{Name: checkName, Steps: []checks.Step{{
		Request: checks.Request{URL: s.url(), Timeout: 3 * time.Second,
			Timeouts: checks.Timeouts{Connect: time.Second, Handshake: time.Second, FirstByte: 1500 * time.Millisecond}},
		Expect: checks.Expect{BodyContains: []string{"proxyward demo"}},
	}}})
	if err != nil {
		return scheduler.Check{}, err
	}
	jitter := 0.2
	return scheduler.Check{
		Name: checkName, Transaction: transaction, Timeout: transaction.Timeout(),
		Policy: policy.Policy{Rise: 1, Fall: 1, Confirm: time.Second, Recheck: 3 * time.Second,
			Cooldown: policy.Cooldown{Rule: policy.Rule{Base: 3 * time.Second, Max: 20 * time.Second, Factor: 2, Jitter: &jitter}}},
		Trickle: scheduler.Trickle{PerTick: 3, MaxPerTick: 3, Window: time.Second},
		Limits:  scheduler.Limits{Rate: 100, Concurrency: 64, PerHost: 64},
		Scores:  scheduler.Scores{Initial: -1, Keep: true},
		Missing: scheduler.Missing{Keep: true},
	}, nil
}
