package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"proxyward/configs"
	"proxyward/internal/cli/screen"
	"proxyward/internal/embedded"
	"proxyward/internal/sources"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/store"
)

type runFlags struct {
	poolFlags
	quick               quickFlags
	logLevel, logFormat string
	grace               time.Duration
	allowEviction       bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon: probe the endpoints, keep the eligible set",
		Long: `Runs the daemon. With a configuration file it serves the checks in it; with --list and
--target and no file it serves one check named default on a Redis inside the process.

The first SIGTERM or SIGINT stops claiming, lets probes in flight finish, commits, gives
leases back and exits with 0; another one, 1 s later at the earliest, exits at once.`,
		Example: `  proxyward run --list proxies.txt --target https://shop.example/
  proxyward run --list socks.txt --scheme socks5h --target https://shop.example/ --redis redis://127.0.0.1:6379/0
  proxyward run --config /etc/proxyward/proxyward.yaml`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.daemon(cmd.Context(), &f) },
	}
	f.addStore(c)
	c.Flags().Lookup("redis").Usage = "`URL` of Redis, instead of the configuration's (without one: a Redis inside this process at 127.0.0.1:6399; embedded://HOST:PORT puts it elsewhere)"
	f.quick.add(c)
	c.Flags().StringVar(&f.logLevel, "log-level", "", "debug, info, warn or error, instead of the configuration's")
	c.Flags().StringVar(&f.logFormat, "log-format", "", "json or console, instead of the configuration's")
	c.Flags().BoolVar(&f.allowEviction, "allow-eviction", false, "run even if Redis's maxmemory-policy can drop the pool's keys")
	c.Flags().DurationVar(&f.grace, "grace", 0, "how long probes in flight may finish after the stop (0: as long as a probe can take)")
	return c
}

// daemon loads what the flags name and runs until ctx ends.
func (a *app) daemon(ctx context.Context, f *runFlags) error {
	if f.grace < 0 {
		return errors.New("bad --grace: a time of 0 or more, like 10s")
	}
	config, at, err := a.runConfig(f)
	if err != nil {
		return err
	}
	log, level, err := a.newLog(config.Log.Level, config.Log.Format)
	if err != nil {
		return err
	}
	for _, w := range config.Warnings {
		log.Warn(w)
	}
	if at.embedded {
		server, err := embedded.Start(at.address.URL, embedded.Login{User: at.address.Username, Password: at.address.Password})
		if err != nil {
			return err
		}
		defer server.Close()
		at.address.URL, at.name = server.URL(), server.Addr()
		a.tellEmbedded(server, config, log)
	}
	st, err := store.Open(at.address)
	if err != nil {
		return err
	}
	defer st.Close()
	w := newTally(st, readVersion(debug.ReadBuildInfo()))
	ctx, fit, err := newFitness(at, st, config, f.allowEviction, log).admit(ctx)
	if err != nil {
		return err
	}
	p := prober.New(config.Prober.Concurrency)
	d := scheduler.NewDaemon(scheduler.Options{Store: st, Prober: p,
		Checks: config.Checks, Tick: config.Scheduler.Tick, Grace: f.grace, Log: log, Watch: w})
	w.Follow(d, standing(st))
	k, err := openDesk(config, at, st, d, w, log)
	if err != nil {
		return errors.Join(err, fit())
	}
	log.Info("daemon starts", zap.String("name", d.Name), zap.String("redis", at.name), zap.Int("checks", len(config.Checks)))
	if err := errors.Join(serve(ctx, &reloader{app: a, flags: f, daemon: d, prober: p, store: st, level: level, log: log, config: config, first: config, desk: k}), fit()); err != nil {
		return err
	}
	log.Info("daemon stopped")
	return nil
}

// runConfig is the configuration to run, with what the flags override.
func (a *app) runConfig(f *runFlags) (*configs.Config, place, error) {
	config, err := a.configOf(f)
	if err != nil {
		return nil, place{}, err
	}
	if f.redis != "" {
		config.Redis = configs.Redis{URL: f.redis, Prefix: config.Redis.Prefix}
	}
	if f.prefix != "" {
		config.Redis.Prefix = f.prefix
	}
	if f.logLevel != "" {
		config.Log.Level = f.logLevel
	}
	if f.logFormat != "" {
		config.Log.Format = f.logFormat
	}
	return config, placeOf(config.Redis), nil
}

func (a *app) configOf(f *runFlags) (*configs.Config, error) {
	if f.quick.any() {
		if f.config != "" {
			return nil, errors.New("--list and --target are for running without a file: put them into the file, or leave --config out")
		}
		return a.quickConfig(&f.quick)
	}
	config, err := loadConfig(f.config)
	if err == nil && config == nil {
		err = fmt.Errorf("no %s here: name a file with --config, or use --list FILE --target URL (or see it work: `proxyward demo`)", defaultConfig)
	}
	return config, err
}

// quickConfig is the configuration of --list and --target. A list that cannot be read now
// is refused here: with a file it would be read again later, here somebody is waiting.
func (a *app) quickConfig(q *quickFlags) (*configs.Config, error) {
	if q.list == "" || q.target == "" {
		return nil, errors.New("--list FILE and --target URL go together: give both")
	}
	list, err := sources.Read(q.list, q.scheme)
	if err != nil {
		return nil, err
	}
	if err := a.judgeList(q.list, list); err != nil {
		return nil, err
	}
	config, err := configs.Default(q.list, q.target)
	if err != nil {
		return nil, err
	}
	if q.scheme != "" {
		for i := range config.Checks {
			for j := range config.Checks[i].Sources {
				config.Checks[i].Sources[j].Scheme = q.scheme
			}
		}
	}
	if config.Log.Format = "json"; screen.For(a.err, a.getenv).Terminal {
		config.Log.Format = "console"
	}
	return config, nil
}

// tellEmbedded says where the Redis in the process is and how a worker uses it.
func (a *app) tellEmbedded(server *embedded.Server, config *configs.Config, log *zap.Logger) {
	log.Info("embedded Redis listens", zap.String("address", server.Addr()), zap.String("notice", embedded.Notice))
	if !server.Loopback() && config.Redis.Password.IsZero() {
		log.Warn("the embedded Redis can be reached from other machines and has no password", zap.String("address", server.Addr()))
	}
	redis := ""
	if _, err := os.Stat(defaultConfig); server.Addr() != embedded.DefaultAddr || err == nil { // commands here would read that file
		redis = " --redis " + server.URL()
	}
	prefix := config.Redis.Prefix
	if prefix == "" {
		prefix = "proxyward"
	}
	name := config.Checks[0].Name
	fmt.Fprintf(a.out, "embedded Redis at %s: %s\n", server.Addr(), embedded.Notice)
	fmt.Fprintf(a.out, "  take a proxy:  proxyward allocate --check %s%s\n", name, redis)
	fmt.Fprintf(a.out, "  look at it:    proxyward status%s\n", redis)
	fmt.Fprintf(a.out, "  a worker:      redis-cli -u %s --eval store/lua/allocate.lua '%s:{%s}:eligible'\n", server.URL(), prefix, name)
}
