package cli

import (
	"context"
	"errors"

	"proxyward/internal/operate"
	"proxyward/store"
)

// resolve finds the id that an argument means: that of one endpoint of the pool, if it is host:port.
func (a *app) resolve(ctx context.Context, p *store.Pool, n int, arg string) (string, error) {
	id, broken, err := operate.Resolve(ctx, p, n, arg)
	a.tellBroken(broken)
	return id, answer(err)
}

// answer makes the answer that there is none a no.
func answer(err error) error {
	if none := (operate.None{}); errors.As(err, &none) {
		return sayNo("%s", none)
	}
	return err
}

// checkTargets says what is wrong with arguments and filters, before anybody asks Redis.
func checkTargets(args []string, f *operate.Filters, all bool) error {
	for i, arg := range args {
		if _, _, err := operate.Parse(i+1, arg); err != nil {
			return err
		}
	}
	switch chosen := f.Any() || all; {
	case len(args) > 0 && chosen:
		return errors.New("name endpoints or use filters, not both")
	case len(args) == 0 && !chosen:
		return errors.New("name at least one endpoint, or choose many with --state, --host, --source or --reason")
	}
	return f.Validate()
}

// targets are the ids that the arguments or the filters mean, once these were checked.
func (a *app) targets(ctx context.Context, p *store.Pool, args []string, f *operate.Filters) ([]string, error) {
	ids, broken, err := operate.Targets(ctx, p, args, f)
	a.tellBroken(broken)
	return ids, answer(err)
}
