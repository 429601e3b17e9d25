package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"proxyward/checks/endpoint"
	"proxyward/store"
)

// resolve finds the id that an argument means: an id, a full proxy URL, or host:port of
// one endpoint of the pool. The argument may hold a password and is never repeated.
func (a *app) resolve(ctx context.Context, p *store.Pool, n int, arg string) (string, error) {
	if strings.Contains(arg, "://") {
		e, err := endpoint.Parse(arg)
		if err != nil {
			return "", fmt.Errorf("argument %d is no endpoint: %w", n, err)
		}
		return e.ID(), nil
	}
	e, err := endpoint.Parse("http://" + arg)
	if err != nil {
		return "", fmt.Errorf("argument %d is no endpoint: write scheme://host:port", n)
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

// targets are the ids that the arguments or the filters mean.
func (a *app) targets(ctx context.Context, p *store.Pool, args []string, f *filters, all bool) ([]string, error) {
	if len(args) > 0 {
		if f.any() || all {
			return nil, errors.New("name endpoints or use filters, not both")
		}
		ids := make([]string, len(args))
		for i, arg := range args {
			var err error
			if ids[i], err = a.resolve(ctx, p, i+1, arg); err != nil {
				return nil, err
			}
		}
		return ids, nil
	}
	if !f.any() && !all {
		return nil, errors.New("name at least one endpoint, or choose many with --state, --host, --source or --reason")
	}
	entries, err := a.scan(ctx, p, f)
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids, err
}
