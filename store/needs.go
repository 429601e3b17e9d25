package store

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"proxyward/store/health"
)

// What a daemon and its commands ask of Redis: each as ACL rules name it, with arguments of
// a call that would do nothing. KEY is a key of a pool, WAKE its channel. configs/redis-acl.conf
// allows exactly these, and tests hold both against the scripts and the code. What scripts
// call need not stand in directNeeds again.
var (
	scriptNeeds = []string{
		"time", "exists KEY",
		"hdel KEY f", "hget KEY f", "hgetall KEY", "hincrby KEY f 0", "hlen KEY", "hmget KEY f", "hset KEY f v",
		"lpush KEY v", "ltrim KEY 0 -1",
		"xack KEY g 0-1", "xadd KEY NOMKSTREAM * f v", "xclaim KEY g c 0 0-1", "xdel KEY 0-1", "xpending KEY g", "xtrim KEY MAXLEN 0",
		"xreadgroup GROUP g c STREAMS KEY >",
		"zadd KEY XX 0 m", "zcard KEY", "zcount KEY 0 0", "zincrby KEY 0 m", "zmscore KEY m", "zrange KEY 0 0", "zrangebyscore KEY 0 0",
		"zrem KEY m", "zremrangebyscore KEY 0 0", "zscore KEY m",
	}
	directNeeds = []string{
		"scan 0", "multi", "exec", "eval return^1 0", "evalsha 0000000000000000000000000000000000000000 0", "unlink KEY",
		"hdel KEY f", "hget KEY f", "hgetall KEY", "hmget KEY f", "hscan KEY 0", "hset KEY f v", "hvals KEY", "hlen KEY",
		"lrange KEY 0 0", "xgroup|create KEY g 0", "xgroup|delconsumer KEY g c", "xinfo|consumers KEY g", "xrange KEY - +", "xrevrange KEY + -",
		"zcard KEY", "zcount KEY 0 0", "zrange KEY 0 0", "zrangebyscore KEY 0 0", "zrem KEY m", "zscan KEY 0", "zscore KEY m",
		"hincrby KEY f 0", "type KEY", "publish WAKE x", "subscribe WAKE",
	}
)

// commandOf is a need's name in ACL rules.
func commandOf(need string) string {
	name, _, _ := strings.Cut(need, " ")
	return name
}

// rights finds out what this user may not do. Every command is queued in a transaction that
// is dropped: servers check rights when they queue, and nothing runs.
func rights(ctx context.Context, node *redis.Client, pools []keys, n *health.Node) error {
	conn := node.Conn()
	defer conn.Close()
	if err := conn.Do(ctx, "multi").Err(); err != nil { // without it the commands would run
		if denied(err) {
			n.Lacks, n.Halts = []string{"multi"}, []string{"multi"} // it may hardly do anything
			return nil
		}
		return err
	}
	replies, err := queue(ctx, conn, pools)
	if err != nil {
		return err
	}
	n.Lacks, n.Halts, n.Unknown = sortOut(replies)
	for _, k := range pools {
		for _, key := range append(k.all(), k.wake()) {
			if err := replies[key]; denied(err) && !strings.Contains(err.Error(), "run the '") {
				n.LockedKeys = append(n.LockedKeys, key)
			}
		}
	}
	return nil
}

// queue tries each need, by its name, and each key and channel of the pools.
func queue(ctx context.Context, conn *redis.Conn, pools []keys) (map[string]error, error) {
	pipe, sent := conn.Pipeline(), map[string]*redis.Cmd{}
	at := pools[0]
	for _, list := range [][]string{scriptNeeds, directNeeds} {
		for _, need := range list {
			if name := commandOf(need); sent[name] == nil && name != "multi" && name != "exec" {
				sent[name] = pipe.Do(ctx, words(need, at)...)
			}
		}
	}
	for _, k := range pools {
		for _, key := range k.all() {
			sent[key] = pipe.Do(ctx, "eval", "return 1", 1, key) // a script's key must be readable and writable
		}
		sent[k.wake()] = pipe.Do(ctx, "subscribe", k.wake())
	}
	drop := pipe.Do(ctx, "discard")
	pipe.Exec(ctx) // each has its own error
	if err := drop.Err(); err != nil {
		conn.Do(ctx, "quit") // what was queued ends with the connection
		return nil, err
	}
	errs := map[string]error{}
	for name, cmd := range sent {
		errs[name] = cmd.Err()
	}
	return errs, nil
}

// words are a need's arguments.
func words(need string, k keys) (args []any) {
	need = strings.Replace(need, "|", " ", 1)
	for _, w := range strings.Fields(need) {
		switch w {
		case "KEY":
			w = k.tag + "doctor"
		case "WAKE":
			w = k.wake()
		}
		args = append(args, strings.ReplaceAll(w, "^", " "))
	}
	return args
}

func sortOut(replies map[string]error) (lacks, halts, unknown []string) {
	seen := map[string]bool{}
	for i, list := range [][]string{scriptNeeds, directNeeds} {
		for _, need := range list {
			name := commandOf(need)
			err := replies[name]
			switch {
			case err == nil || seen[name]:
			case strings.Contains(err.Error(), "unknown command"), strings.Contains(err.Error(), "unknown subcommand"):
				unknown = append(unknown, name)
			case denied(err) && strings.Contains(err.Error(), "run the '"):
				lacks = append(lacks, name)
				if i == 0 {
					halts = append(halts, name)
				}
			}
			seen[name] = true
		}
	}
	return lacks, halts, unknown
}
