package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"proxyward/configs"
	"proxyward/internal/embedded"
	"proxyward/internal/operate"
	"proxyward/scheduler"
	"proxyward/store"
)

// defaultConfig is read where no --config is given, if it is there.
const defaultConfig = "proxyward.yaml"

// defaultCheck is the check of `run --list FILE --target URL`.
const defaultCheck = "default"

// poolFlags say which pool a command works on.
type poolFlags struct {
	config, redis, prefix, check string
}

func (f *poolFlags) add(c *cobra.Command) {
	f.addStore(c)
	c.Flags().StringVar(&f.check, "check", "", "name of the check; may be left out where there is one")
	a := c.RegisterFlagCompletionFunc("check", f.completeCheck)
	_ = a // only a flag that does not exist makes it fail
}

func (f *poolFlags) addStore(c *cobra.Command) {
	c.Flags().StringVar(&f.config, "config", "", "configuration `FILE` (default "+defaultConfig+", if it is there)")
	c.Flags().StringVar(&f.redis, "redis", "", "`URL` of Redis, instead of the configuration's (without one: "+embedded.DefaultURL+")")
	c.Flags().StringVar(&f.prefix, "prefix", "", "prefix of all keys, instead of the configuration's (without one: proxyward)")
}

// session is an open store with what is known of it.
type session struct {
	place  place
	store  *store.Store
	config *configs.Config // nil: there is none
	pool   *store.Pool     // nil: the command is about all checks
}

// loadConfig reads the configuration; nil where none is named and none is there.
func loadConfig(file string) (*configs.Config, error) {
	named := file != ""
	if !named {
		file = defaultConfig
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	return configs.Load(file)
}

// configure finds the configuration and the Redis that the flags name. --redis alone
// means that a configuration lying about is not asked.
func (f *poolFlags) configure() (*configs.Config, place, error) {
	var c *configs.Config
	var err error
	if f.redis == "" || f.config != "" {
		if c, err = loadConfig(f.config); err != nil {
			return nil, place{}, err
		}
	}
	p := placeAt(store.Address{URL: embedded.DefaultURL})
	if c != nil {
		p = placeOf(c.Redis)
	}
	if f.redis != "" {
		prefix := ""
		if c != nil {
			prefix = c.Redis.Prefix
		}
		p = placeAt(store.Address{URL: f.redis, Prefix: prefix})
	}
	if f.prefix != "" {
		p.address.Prefix = f.prefix
	}
	if strings.ContainsAny(p.address.Prefix, "{}") {
		return nil, place{}, errors.New("bad --prefix: no braces may stand in it")
	}
	return c, p, nil
}

// withStore opens Redis, runs the command and closes Redis.
func (f *poolFlags) withStore(ctx context.Context, work func(context.Context, *session) error) error {
	c, p, err := f.configure()
	if err != nil {
		return err
	}
	st, err := p.open()
	if err != nil {
		return err
	}
	defer st.Close()
	return p.redisWords(work(ctx, &session{place: p, store: st, config: c}))
}

// withPool is withStore for a command about one check. A pool that this version is too old
// for is refused: it would be misread.
func (f *poolFlags) withPool(ctx context.Context, work func(context.Context, *session) error) error {
	return f.withAnyPool(ctx, func(ctx context.Context, s *session) error {
		if err := s.pool.Known(ctx); err != nil {
			return err
		}
		return work(ctx, s)
	})
}

// withAnyPool is withPool for commands that hold for pools of every version.
func (f *poolFlags) withAnyPool(ctx context.Context, work func(context.Context, *session) error) error {
	return f.withStore(ctx, func(ctx context.Context, s *session) error {
		name, err := s.pick(ctx, f.check)
		if err != nil {
			return err
		}
		s.pool = s.store.Pool(name)
		if c, known := s.check(name); known {
			s.pool.Farthest(c.Farthest())
		}
		return work(ctx, s)
	})
}

var checkName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// pick finds the check that is meant.
func (s *session) pick(ctx context.Context, named string) (string, error) {
	if named != "" {
		if !checkName.MatchString(named) {
			return "", errors.New("bad --check: a name has lower-case letters, digits, - and _, and at most 63 of them")
		}
		return named, nil
	}
	names := s.configured()
	if len(names) == 0 {
		var err error
		if names, err = s.store.Checks(ctx); err != nil {
			return "", err
		}
	}
	switch len(names) {
	case 0:
		return defaultCheck, nil
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("there are %d checks: name one with --check: %s", len(names), strings.Join(names, ", "))
}

// checks are those of the configuration; nil: there is none.
func (s *session) checks() operate.Configured {
	if s.config == nil {
		return nil
	}
	return s.config.Checks
}

// configured names the checks of the configuration.
func (s *session) configured() []string { return s.checks().Names() }

// check is the configuration of one check; false where there is none.
func (s *session) check(name string) (scheduler.Check, bool) { return s.checks().Check(name) }

// strange is the answer to a question about a check that nobody knows; nil if it is known.
func (s *session) strange(ctx context.Context) error {
	name := s.pool.Name()
	if _, known := s.check(name); known {
		return nil
	}
	names, err := s.store.Checks(ctx)
	if err != nil {
		return err
	}
	for _, n := range names {
		if n == name {
			return nil
		}
	}
	if len(names) == 0 {
		return sayNo("no check has a pool in the Redis at %s yet: start `proxyward run`", s.place.name)
	}
	return sayNo("no check named %s in the Redis at %s: there are %s", name, s.place.name, strings.Join(names, ", "))
}

// completeCheck offers the names of checks to the shell.
func (f *poolFlags) completeCheck(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	err := f.withStore(cmd.Context(), func(ctx context.Context, s *session) (err error) {
		if names = s.configured(); len(names) == 0 {
			names, err = s.store.Checks(ctx)
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
