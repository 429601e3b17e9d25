package store

import (
	"bufio"
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/store/health"
)

// readInfo reads what the server says of itself. Being refused is no error.
func readInfo(ctx context.Context, node *redis.Client, n *health.Node) error {
	text, err := node.Info(ctx).Result()
	if err == nil {
		n.Info = fields(text)
	}
	if n.Info["maxmemory_policy"] == "" && err == nil { // very old, or a service
		if v, known := setting(ctx, node, "maxmemory-policy"); known {
			n.Info["maxmemory_policy"] = v
		}
	}
	return unanswered(ctx, err)
}

// readSettings asks for what a service or an ACL may well refuse.
func readSettings(ctx context.Context, node *redis.Client, n *health.Node) {
	if n.Info["aof_enabled"] == "0" { // else nobody needs it: a refusal stands in Redis's ACL LOG
		n.Save.Value, n.Save.Known = setting(ctx, node, "save")
	}
	if n.Info["cluster_enabled"] == "1" {
		if text, err := node.ClusterInfo(ctx).Result(); err == nil {
			n.Topology = fields(text)
		}
	}
	var hashes []string
	for _, s := range scripts {
		hashes = append(hashes, s.Hash())
	}
	n.Scripts, n.Loaded = len(hashes), -1
	if known, err := node.ScriptExists(ctx, hashes...).Result(); err == nil {
		n.Loaded = 0
		for _, k := range known {
			if k {
				n.Loaded++
			}
		}
	}
}

func setting(ctx context.Context, node *redis.Client, name string) (value string, known bool) {
	found, err := node.ConfigGet(ctx, name).Result()
	value, known = found[name]
	return value, known && err == nil
}

// unanswered is the error when there was no answer at all; what a server refuses is one.
func unanswered(ctx context.Context, err error) error {
	if _, answered := err.(redis.Error); answered && ctx.Err() == nil {
		return nil
	}
	return err
}

// fields are the lines NAME:VALUE of INFO and CLUSTER INFO.
func fields(text string) map[string]string {
	found := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if name, value, is := strings.Cut(lines.Text(), ":"); is {
			found[name] = strings.TrimSpace(value)
		}
	}
	return found
}

// askSentinels asks each whether a failover could be done; nil where there are none.
func (s *Store) askSentinels(ctx context.Context) *health.Watch {
	w := health.Watch{Asked: len(s.sentinel.Addresses)}
	if w.Asked == 0 {
		return nil
	}
	for _, addr := range s.sentinel.Addresses {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr, Username: s.sentinel.Username, Password: s.sentinel.Password, TLSConfig: s.tls,
			MaxRetries: -1, DialerRetries: 1, DialTimeout: time.Second, ReadTimeout: time.Second, ContextTimeoutEnabled: true, DisableIdentity: true})
		_, err := c.CkQuorum(ctx, s.sentinel.Master).Result()
		c.Close()
		if err == nil || strings.HasPrefix(err.Error(), "NOQUORUM") {
			w.Answered++
		}
		if err != nil && strings.HasPrefix(err.Error(), "NOQUORUM") {
			w.NoQuorum = strings.TrimPrefix(err.Error(), "NOQUORUM ")
		}
	}
	return &w
}
