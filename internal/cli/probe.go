package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/internal/sources"
	"proxyward/scheduler"
)

type probeFlags struct {
	config, check string
	quick         quickFlags
	endpoints     []string
	concurrency   int
	timeout       time.Duration
	verbose       bool
	json, csv     bool
}

func (a *app) probeCommand() *cobra.Command {
	var f probeFlags
	c := &cobra.Command{
		Use:   "probe",
		Short: "Run a check through proxies now, without Redis, and show where the time goes",
		Long: `Runs the whole transaction of a check through proxies, now and without Redis, and says
what the check says of each. For one endpoint it shows where the time went and what to do;
for many a line each, as results come, and a summary. Without --endpoint and --list it
takes the check's own lists. Exit status 1 if any failed.`,
		Example: `  proxyward probe --endpoint http://192.0.2.1:8080 --target https://shop.example/
  proxyward probe --check catalogue --endpoint socks5h://joe:secret@proxy.example:1080 -v
  proxyward probe --list proxies.txt --target https://shop.example/ -j 200 --json`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.probe(cmd.Context(), &f) },
	}
	c.Flags().StringVar(&f.config, "config", "", "configuration `FILE` (default "+defaultConfig+", if it is there)")
	c.Flags().StringVar(&f.check, "check", "", "name of the check; may be left out where there is one")
	c.Flags().StringArrayVarP(&f.endpoints, "endpoint", "e", nil, "proxy `URL`, with its password if it has one; may be repeated")
	f.quick.add(c)
	c.Flags().IntVarP(&f.concurrency, "concurrency", "j", 64, "probes at once (to one host: limits.per_host, 16)")
	c.Flags().DurationVar(&f.timeout, "timeout", 0, "for a whole probe, with --target (0: 15s)")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show the conversation, passwords masked")
	jsonFlag(c, &f.json)
	c.Flags().BoolVar(&f.csv, "csv", false, "print CSV with a head line")
	return c
}

func (a *app) probe(ctx context.Context, f *probeFlags) error {
	if f.json && f.csv {
		return errors.New("--json and --csv: choose one")
	}
	if f.concurrency < 1 {
		return errors.New("bad value for --concurrency: write a number from 1 on")
	}
	check, err := f.findCheck()
	if err != nil {
		return err
	}
	list, err := a.probeList(f, check.Sources)
	if err != nil {
		return err
	}
	r := newProbeReport(a, f, check.Name, len(list))
	probeAll(ctx, check, list, f.concurrency, r)
	return r.end(ctx)
}

// findCheck is the check of the configuration, or one made of --target.
func (f *probeFlags) findCheck() (scheduler.Check, error) {
	if f.quick.target != "" {
		return f.quickCheck()
	}
	config, err := loadConfig(f.config)
	if err != nil {
		return scheduler.Check{}, err
	}
	if config == nil {
		return scheduler.Check{}, fmt.Errorf("no %s here: name a file with --config, or a target with --target URL", defaultConfig)
	}
	s := session{config: config}
	name := f.check
	if name == "" {
		if name, err = s.pick(context.Background(), ""); err != nil { // of the configuration: Redis is not asked
			return scheduler.Check{}, err
		}
	}
	check, known := s.check(name)
	if !known {
		return check, fmt.Errorf("no check named %q in the configuration", name)
	}
	return check, nil
}

// quickPerHost is the default of limits.per_host.
const quickPerHost = 16

func (f *probeFlags) quickCheck() (scheduler.Check, error) {
	if f.config != "" || f.check != "" {
		return scheduler.Check{}, errors.New("--target makes a check of its own: leave --config and --check out, or --target")
	}
	c, err := checks.Compile(checks.Spec{Name: defaultCheck, Steps: []checks.Step{{
		Request: checks.Request{URL: f.quick.target, Timeout: f.timeout}}}})
	if err != nil {
		return scheduler.Check{}, flagFaults(err)
	}
	return scheduler.Check{Name: defaultCheck, Transaction: c, Timeout: c.Timeout(), Limits: scheduler.Limits{PerHost: quickPerHost}}, nil
}

// flagFaults tells the faults of a check that was made of flags by the flags' names.
func flagFaults(err error) error {
	names := strings.NewReplacer("request.url: ", "bad --target: ", "request.timeout: ", "bad --timeout: ")
	return errors.New(names.Replace(err.Error()))
}

// probeList is who is to be probed: what the flags name, else the check's own files.
func (a *app) probeList(f *probeFlags, own []scheduler.Source) ([]endpoint.Endpoint, error) {
	var all []endpoint.Endpoint
	for i, raw := range f.endpoints {
		e, err := endpoint.Parse(raw)
		if err != nil {
			return nil, fmt.Errorf("--endpoint, number %d: %w", i+1, err)
		}
		all = append(all, e)
	}
	if f.quick.list != "" {
		own = []scheduler.Source{{File: f.quick.list, Scheme: f.quick.scheme}}
	} else if len(all) > 0 {
		own = nil
	}
	for _, s := range own {
		if s.File == "" {
			a.note("a list at a URL is not fetched here: save it and name it with --list")
			continue
		}
		list, err := sources.Read(s.File, s.Scheme)
		if err == nil {
			err = a.judgeList(s.File, list)
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range list.Accepted {
			all = append(all, entry.Endpoint)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("nobody to probe: name --endpoint URL or --list FILE")
	}
	return unique(all), nil
}

// unique keeps the first of each endpoint.
func unique(all []endpoint.Endpoint) []endpoint.Endpoint {
	seen := make(map[string]bool, len(all))
	kept := all[:0]
	for _, e := range all {
		if id := e.ID(); !seen[id] {
			seen[id] = true
			kept = append(kept, e)
		}
	}
	return kept
}
