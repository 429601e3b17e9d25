package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"proxyward/configs"
	"proxyward/internal/embedded"
	"proxyward/scheduler"
	"proxyward/scheduler/plan"
)

type planFlags struct {
	config, check             string
	endpoints, hosts, daemons int
	latency                   time.Duration
	json                      bool
}

// usualLatency is what a probe that passes is taken to need.
const usualLatency = time.Second

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan",
		Short: "Say what follows from the settings: load, recovery, memory, and what cannot work",
		Long: `Reckons from the configuration and the size of each pool, without Redis and without a
probe: how many probes the target sees, how long a dead proxy can go unnoticed, how long
an outage's proxies take to come back, and what Redis needs. It warns of settings that do
not go together, each with what to change. Without --endpoints the check's local lists are
counted; where there are none it shows several sizes. Exit status 1 if it cannot work.`,
		Example: `  proxyward plan
  proxyward plan --check catalogue --endpoints 100000 --daemons 3
  proxyward plan --latency 4s --json | jq '.plans[].warnings[].mend'`,
		Args: exactly(0, ""),
		RunE: func(*cobra.Command, []string) error { return a.plan(&f) },
	}
	c.Flags().StringVar(&f.config, "config", "", "configuration `FILE` (default "+defaultConfig+", if it is there)")
	c.Flags().StringVar(&f.check, "check", "", "name of the check (default: all)")
	c.Flags().IntVarP(&f.endpoints, "endpoints", "n", 0, "size of each pool (0: count the local lists)")
	c.Flags().IntVar(&f.hosts, "hosts", 0, "proxy hosts that the endpoints are on (0: as listed, else one each)")
	c.Flags().IntVar(&f.daemons, "daemons", 1, "daemons that share the work")
	c.Flags().DurationVar(&f.latency, "latency", 0, "what a probe that passes takes (0: 1s, or the timeout if that is less)")
	jsonFlag(c, &f.json)
	return c
}

// most of what the flags may say: beyond, a pool is another kind of thing.
const (
	mostEndpoints = 10_000_000
	mostDaemons   = 1000
)

func (f *planFlags) validate() error {
	switch {
	case f.endpoints < 0 || f.endpoints > mostEndpoints:
		return fmt.Errorf("bad value for --endpoints: write a number up to %d", mostEndpoints)
	case f.hosts < 0:
		return errors.New("bad value for --hosts: write a number from 1 on")
	case f.daemons < 1 || f.daemons > mostDaemons:
		return fmt.Errorf("bad value for --daemons: write a number from 1 to %d", mostDaemons)
	case f.latency < 0 || f.latency > 0 && f.latency < time.Millisecond:
		return errors.New("bad value for --latency: write a duration from 1ms on")
	}
	return nil
}

// checkPlan is what follows for one check, at each size that its pool may have.
type checkPlan struct {
	name  string
	pool  pooled
	plans []plan.Plan
}

func (a *app) plan(f *planFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	config, err := loadConfig(f.config)
	if err != nil {
		return err
	}
	if config == nil {
		return fmt.Errorf("no %s here: name a file with --config", defaultConfig)
	}
	if _, known := (&session{config: config}).check(f.check); f.check != "" && !known {
		return fmt.Errorf("no check named %q in the configuration", f.check)
	}
	var made []checkPlan
	var shared []plan.Settings
	for _, c := range config.Checks {
		s, err := f.settings(config, c)
		if err != nil {
			return err
		}
		if f.check == "" || f.check == c.Name {
			one, err := a.planCheck(f, c, s)
			if err != nil {
				return err
			}
			made, s = append(made, one), one.plans[0].Settings
		}
		shared = append(shared, s)
	}
	return a.tellPlans(f, made, processOf(config).Warnings(shared))
}

func processOf(c *configs.Config) plan.Process {
	return plan.Process{Embedded: embedded.Is(c.Redis.URL), Prober: c.Prober.Concurrency, Descriptors: descriptors()}
}

// settings are those of a check, its pool left out.
func (f *planFlags) settings(config *configs.Config, c scheduler.Check) (plan.Settings, error) {
	latency := cmp.Or(f.latency, min(usualLatency, c.Timeout))
	if latency > c.Timeout {
		return plan.Settings{}, fmt.Errorf("bad value for --latency: %s is longer than the timeout of check %s, %s: a probe that passes ends before", latency, c.Name, c.Timeout)
	}
	least, most := c.Transaction.Requests()
	s := plan.Settings{Jobs: c.Jobs, Policy: c.Policy, PerTick: c.Trickle.PerTick, MaxPerTick: c.Trickle.MaxPerTick, Window: c.Trickle.Window,
		Rate: c.Limits.Rate, Concurrency: c.Limits.Concurrency, PerHost: c.Limits.PerHost, Prober: config.Prober.Concurrency,
		Share: share(config, c), Daemons: f.daemons, Timeout: c.Timeout, Latency: latency, Requests: least, MostRequests: most}
	s.Policy.Tick = config.Scheduler.Tick
	return s, nil
}

// share is how many slots of a daemon a check is sure of: what it asks for, or an equal
// share where the checks together ask for more than there are.
func share(config *configs.Config, c scheduler.Check) int {
	wanted := 0
	for _, other := range config.Checks {
		wanted += other.Limits.Concurrency
	}
	if wanted <= config.Prober.Concurrency {
		return c.Limits.Concurrency
	}
	return min(c.Limits.Concurrency, max(1, config.Prober.Concurrency/len(config.Checks)))
}

func (a *app) planCheck(f *planFlags, c scheduler.Check, s plan.Settings) (checkPlan, error) {
	pool, err := a.pooled(f, c)
	if err != nil {
		return checkPlan{}, err
	}
	one := checkPlan{name: c.Name, pool: pool}
	for _, n := range pool.sizes {
		s.Endpoints, s.Largest, s.IDBytes, s.Passwords = n, pool.largest, pool.idBytes, pool.passwords
		s.Floor = max(c.Floor.Count, int(math.Ceil(c.Floor.Share*float64(n))))
		if f.hosts > 0 {
			s.Largest = (n + f.hosts - 1) / f.hosts
		}
		one.plans = append(one.plans, plan.Of(s))
	}
	return one, nil
}
