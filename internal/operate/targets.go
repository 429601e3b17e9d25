package operate

import (
	"context"
	"fmt"
	"strings"

	"proxyward/checks/endpoint"
	"proxyward/store"
)

// Parse reads the nth argument: an id, a full proxy URL, or host:port, for which whole is
// false. It may hold a password and is never repeated.
func Parse(n int, arg string) (e endpoint.Endpoint, whole bool, err error) {
	if strings.Contains(arg, "://") {
		if e, err = endpoint.Parse(arg); err != nil {
			err = wrong("argument %d is no endpoint: %s", n, err)
		}
		return e, true, err
	}
	if e, err = endpoint.Parse("http://" + arg); err != nil {
		err = wrong("argument %d is no endpoint: write scheme://host:port", n)
	}
	return e, false, err
}

// Resolve finds the id that the nth argument means: that of one endpoint of the pool, if it
// is host:port. broken counts records that could not be read meanwhile.
func Resolve(ctx context.Context, p *store.Pool, n int, arg string) (id string, broken int, err error) {
	e, whole, err := Parse(n, arg)
	if err != nil || whole {
		return e.ID(), 0, err
	}
	entries, broken, err := Scan(ctx, p, &Filters{Hosts: []string{e.Host}})
	if err != nil {
		return "", broken, err
	}
	var ids []string
	for _, found := range entries {
		if f, err := endpoint.Parse(found.ID); err == nil && f.Port == e.Port && (e.User == "" || e.User == f.User) {
			ids = append(ids, found.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", broken, None{fmt.Sprintf("no endpoint at %s in pool %s", e.Addr(), p.Name())}
	case 1:
		return ids[0], broken, nil
	}
	return "", broken, wrong("%d endpoints are at %s: write one in full: %s", len(ids), e.Addr(), strings.Join(ids[:min(4, len(ids))], ", "))
}

// Targets are the ids that the arguments or, without any, the filters mean. broken counts
// records that could not be read meanwhile.
func Targets(ctx context.Context, p *store.Pool, args []string, f *Filters) (ids []string, broken int, err error) {
	if len(args) > 0 {
		ids = make([]string, len(args))
		for i, arg := range args {
			id, n, err := Resolve(ctx, p, i+1, arg)
			if broken += n; err != nil {
				return nil, broken, err
			}
			ids[i] = id
		}
		return ids, broken, nil
	}
	entries, broken, err := Scan(ctx, p, f)
	ids = make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids, broken, err
}
