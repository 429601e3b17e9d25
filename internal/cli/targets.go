package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"proxyward/checks/endpoint"
	"proxyward/store"
)

// parse reads an argument: an id, a full proxy URL, or host:port, for which whole is false.
// The argument may hold a password and is never repeated.
func parse(n int, arg string) (e endpoint.Endpoint, whole bool, err error) {
	if strings.Contains(arg, "://") {
		if e, err = endpoint.Parse(arg); err != nil {
			err = fmt.Errorf("argument %d is no endpoint: %w", n, err)
		}
		return e, true, err
	}
	if e, err = endpoint.Parse("http://" + arg); err != nil {
		err = fmt.Errorf("argument %d is no endpoint: write scheme://host:port", n)
	}
	return e, false, err
}

// resolve finds the id that an argument means: that of one endpoint of the pool, if it is host:port.
func (a *app) resolve(ctx context.Context, p *store.Pool, n int, arg string) (string, error) {
	e, whole, err := parse(n, arg)
	if err != nil || whole {
		return e.ID(), err
	}
	entries, err := a.scan(ctx, p, &filters{hosts: []string{e.Host}})
	if err != nil {
		return "", err
	}
	var ids []string
	for _, found := range entries {
		if f, err := endpoint.Parse(found.ID); err == nil && f.Port == e.Port && (e.User == "" || e.User == f.User) {
			ids = append(ids, found.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", sayNo("no endpoint at %s in pool %s", e.Addr(), p.Name())
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("%d endpoints are at %s: write one in full: %s", len(ids), e.Addr(), strings.Join(ids[:min(4, len(ids))], ", "))
}

// checkTargets says what is wrong with arguments and filters, before anybody asks Redis.
func checkTargets(args []string, f *filters, all bool) error {
	for i, arg := range args {
		if _, _, err := parse(i+1, arg); err != nil {
			return err
		}
	}
	switch chosen := f.any() || all; {
	case len(args) > 0 && chosen:
		return errors.New("name endpoints or use filters, not both")
	case len(args) == 0 && !chosen:
		return errors.New("name at least one endpoint, or choose many with --state, --host, --source or --reason")
	}
	return f.validate()
}

// targets are the ids that the arguments or the filters mean, once these were checked.
func (a *app) targets(ctx context.Context, p *store.Pool, args []string, f *filters) ([]string, error) {
	if len(args) > 0 {
		ids := make([]string, len(args))
		for i, arg := range args {
			var err error
			if ids[i], err = a.resolve(ctx, p, i+1, arg); err != nil {
				return nil, err
			}
		}
		return ids, nil
	}
	entries, err := a.scan(ctx, p, f)
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids, err
}
