package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/store/health"
	"proxyward/store/record"
)

// Looking says what Examine looks at beside the servers.
type Looking struct {
	Checks map[string]time.Duration // of the configuration, with their recheck intervals; nil: there is none
	Watch  time.Duration            // how long the servers' clocks are watched at least
}

const (
	pings     = 20
	pingsFor  = 3 * time.Second  // no more of them after this
	deadAfter = 15 * time.Second // a daemon silent for longer is dead
)

// Examine gathers what there is to know of this Redis and its pools. It changes nothing.
// Where nobody answers that is an error.
func (s *Store) Examine(ctx context.Context, l Looking) (health.Facts, error) {
	f := health.Facts{Owned: l.Checks != nil}
	have, err := s.Checks(ctx)
	if err != nil && !denied(err) {
		return f, fmt.Errorf("examine redis: %w", err)
	}
	names := slices.Sorted(maps.Keys(l.Checks))
	for _, name := range have {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	err = s.eachNode(ctx, &f, func(ctx context.Context, node *redis.Client, n *health.Node) error {
		return s.inspect(ctx, node, n, names, l.Watch)
	})
	if err != nil {
		return f, fmt.Errorf("examine redis: %w", err)
	}
	f.Sentinel = s.askSentinels(ctx)
	for _, name := range names {
		recheck, configured := l.Checks[name]
		p := health.Pool{Name: name, Configured: configured, Recheck: recheck, Exists: slices.Contains(have, name)}
		s.Pool(name).Discreet().examine(ctx, &p)
		f.Pools = append(f.Pools, p)
	}
	return f, nil
}

// Glance gathers only what decides whether a daemon may run here: see health.Fitness.
func (s *Store) Glance(ctx context.Context, checks []string) (health.Facts, error) {
	var f health.Facts
	err := s.eachNode(ctx, &f, func(ctx context.Context, node *redis.Client, n *health.Node) error {
		if err := readInfo(ctx, node, n); err != nil {
			return err
		}
		return rights(ctx, node, s.keysOf(checks), n)
	})
	if err != nil {
		return f, fmt.Errorf("look at redis: %w", err)
	}
	return f, nil
}

// eachNode fills in a node for each server; of a cluster one may be away.
func (s *Store) eachNode(ctx context.Context, f *health.Facts, look func(context.Context, *redis.Client, *health.Node) error) error {
	f.User = s.user
	cluster, is := s.client.(*redis.ClusterClient)
	if !is {
		n := health.Node{}
		client, plain := s.client.(*redis.Client)
		if !plain {
			return fmt.Errorf("a client of kind %T", s.client)
		}
		err := look(ctx, client, &n)
		f.Nodes = append(f.Nodes, n)
		return err
	}
	f.Cluster = true
	var mu sync.Mutex
	err := cluster.ForEachShard(ctx, func(ctx context.Context, node *redis.Client) error {
		n := health.Node{Addr: node.Options().Addr}
		if err := look(ctx, node, &n); err != nil {
			n.Away = err.Error()
		}
		mu.Lock()
		defer mu.Unlock()
		f.Nodes = append(f.Nodes, n)
		return ctx.Err()
	})
	slices.SortFunc(f.Nodes, func(x, y health.Node) int { return strings.Compare(x.Addr, y.Addr) })
	return err
}

// inspect is all that is asked of one server.
func (s *Store) inspect(ctx context.Context, node *redis.Client, n *health.Node, checks []string, watch time.Duration) error {
	began, first, err := askTime(ctx, node)
	if err != nil {
		return err
	}
	n.Ahead = first.Sub(began)
	for _, step := range []func() error{
		func() error { return readInfo(ctx, node, n) },
		func() error { return rights(ctx, node, s.keysOf(checks), n) },
		func() error { return ping(ctx, node, n) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	readSettings(ctx, node, n)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(watch - time.Since(began)):
	}
	ended, last, err := askTime(ctx, node)
	n.Leap = last.Sub(first) - ended.Sub(began)
	return err
}

// askTime gives the server's clock, and the moment of ours in the middle of the round trip.
func askTime(ctx context.Context, node *redis.Client) (ours, theirs time.Time, err error) {
	began := time.Now()
	theirs, err = node.Time(ctx).Result()
	if denied(err) {
		return began, began, nil
	}
	return began.Add(time.Since(began) / 2), theirs, err
}

// keysOf are the keys of these checks; of one that cannot be where there is none.
func (s *Store) keysOf(checks []string) (all []keys) {
	for _, name := range checks {
		all = append(all, keysOf(s.prefix, name))
	}
	if all == nil {
		all = []keys{keysOf(s.prefix, ".doctor")}
	}
	return all
}

func ping(ctx context.Context, node *redis.Client, n *health.Node) error {
	conn := node.Conn()
	defer conn.Close()
	for began := time.Now(); len(n.Trips) < pings && time.Since(began) < pingsFor; {
		sent := time.Now()
		if err := conn.Ping(ctx).Err(); err != nil {
			return err
		}
		n.Trips = append(n.Trips, time.Since(sent))
	}
	return nil
}

// examine is what there is to know of one pool.
func (p *Pool) examine(ctx context.Context, to *health.Pool) {
	status, err := p.Status(ctx)
	clock, clockErr := p.Clock(ctx)
	schema, metaErr := p.client.HGet(ctx, p.keys.meta(), "schema").Result()
	if metaErr == redis.Nil {
		metaErr = nil
	}
	for _, err := range []error{err, clockErr, metaErr} {
		if err != nil && to.Broken == "" {
			to.Broken = err.Error()
		}
	}
	to.Schema, to.Newest = schema, Schema
	to.NowMs, to.LastCommitMs, to.Eligible = status.Now, status.LastCommitMs, status.States[record.Eligible]
	for _, n := range status.States {
		to.Endpoints += n
	}
	for _, at := range status.Daemons {
		if status.Now-at <= deadAfter.Milliseconds() {
			to.Daemons++
		}
	}
	to.OffsetMs, to.HeldMs = clock.Offset, clock.Held
	to.BehindMs = max(clock.High-clock.Server-clock.Offset, 0)
}
