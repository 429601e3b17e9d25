package store_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/health"
	"proxyward/store/record"
)

// older takes the lines for Redis 6.2 instead of those that stand for the same users.
func older(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == "user" && strings.Contains(text, "#6.2# user "+words[1]) {
			continue
		}
		kept = append(kept, strings.TrimPrefix(line, "#6.2# "))
	}
	return strings.Join(kept, "")
}

// users runs f with the ACL as it is shipped, and with its lines for 6.2.
func users(t *testing.T, f func(t *testing.T, url string, selectors bool)) {
	t.Run("7.0", func(t *testing.T) { f(t, testenv.Redis(t, "--include", testenv.ACL(t)), true) })
	t.Run("6.2", func(t *testing.T) {
		path := testenv.ACL(t, older, func(text string) string {
			if strings.Contains(text, "%R~proxyward:{*}:eligible") || strings.Contains(text, "(~") {
				t.Error("the lines for 6.2 have words of 7.0")
			}
			return text
		})
		f(t, testenv.Redis(t, "--include", path), false)
	})
}

// seeded is a pool with one eligible endpoint that has a password, made as proxyward.
func seeded(t *testing.T, url string) (id, full string) {
	t.Helper()
	p := storeAs(t, "proxyward", url).Pool(check)
	id, full = "http://user@10.0.0.1:8080", "http://user:"+canary+"@10.0.0.1:8080"
	rec := record.Record{State: record.Candidate, Sources: []string{"file:l"}}
	applied(t)(p.Amend(t.Context(), []store.Change{{ID: id, URL: full, Transition: record.Transition{To: record.Candidate, Next: rec, DueMs: 1, DelayMs: 1}}}))
	commit(t, p, move(one(t, p), record.Eligible, now(t, p), 0))
	return id, full
}

func storeAs(t *testing.T, user, url string) *store.Store {
	t.Helper()
	s, err := store.Open(store.Address{URL: testenv.As(user, url)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// refused says whether the server denied the command, by the words of all versions.
func refused(err error) bool {
	for _, words := range []string{"NOPERM", "The user executing the script can't", "ACL failure in script"} {
		if err != nil && strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}

// may holds each command, its words split at spaces, with ^ for one inside a word, against what the
// user may do. POOL stands for the keys of the check.
func may(t *testing.T, c *redis.Client, allowed bool, commands ...string) {
	t.Helper()
	for _, text := range commands {
		var args []any
		for _, word := range strings.Fields(strings.ReplaceAll(text, "POOL", "proxyward:{"+check+"}")) {
			args = append(args, strings.ReplaceAll(word, "^", " "))
		}
		if err := c.Do(t.Context(), args...).Err(); refused(err) == allowed || err != nil && allowed && err != redis.Nil {
			t.Errorf("%s: %v, want it allowed: %v", text, err, allowed)
		}
	}
}

// What nobody of the three may do: look at or change the server, or anything that is not the pool's.
var nobody = []string{"CONFIG GET requirepass", "CONFIG SET maxmemory 0", "ACL LIST", "ACL SETUSER x on", "FLUSHALL", "FLUSHDB", "KEYS *",
	"CLIENT LIST", "CLIENT KILL 127.0.0.1:1", "SCRIPT FLUSH", "FUNCTION LIST", "MONITOR", "LATENCY RESET", "SHUTDOWN", "REPLICAOF NO ONE",
	"GET other", "SET other x", "HGETALL other", "HGETALL proxyward:other", "DEL POOL:eligible", "EXPIRE POOL:eligible 1", "RENAME POOL:urls POOL:meta",
	"DUMP POOL:urls", "SORT POOL:eligible", "PUBLISH other x", "PSUBSCRIBE *", "EVAL return^1 1 other", "SWAPDB 0 1", "SAVE"}

func TestProxywardMayDoAllItNeedsAndNoMore(t *testing.T) {
	users(t, func(t *testing.T, url string, _ bool) {
		seeded(t, url) // all that it needs is the contract, which runs as this user
		c := testenv.Client(t, testenv.As("proxyward", url))
		may(t, c, false, nobody...)
		may(t, c, false, "SET POOL:x 1", "SUBSCRIBE proxyward:{c}:events", "SCRIPT LOAD return^1")
	})
}

func TestAWorkerMayAllocateReadURLsAndReport(t *testing.T) {
	users(t, func(t *testing.T, url string, _ bool) {
		id, full := seeded(t, url)
		c := testenv.Client(t, testenv.As("worker", url))
		got, at, ok, err := storeAs(t, "worker", url).Pool(check).Allocate(t.Context())
		if err != nil || !ok || got != id || at != full {
			t.Errorf("allocated %q, %v: %v", got, ok, err)
		}
		may(t, c, true, "HGET POOL:urls "+id, "HMGET POOL:urls a b", "XADD POOL:reports * endpoint "+id+" outcome failed", "PING", "SELECT 0",
			"CLIENT SETNAME w", "ZINCRBY POOL:eligible 1 "+id) // the script needs it
		may(t, c, false, nobody...)
		may(t, c, false, "HSET POOL:endpoints a b", "HGET POOL:endpoints "+id, "HDEL POOL:urls "+id, "HSET POOL:urls a b", "HGETALL POOL:urls",
			"ZADD POOL:eligible 1 x", "ZREM POOL:eligible x", "ZRANGE POOL:due:recheck 0 -1", "HGETALL POOL:meta", "XADD POOL:events * a b",
			"XRANGE POOL:reports - +", "XTRIM POOL:reports MAXLEN 0", "SCAN 0", "PUBLISH POOL:wake x", "SUBSCRIBE POOL:wake", "INFO",
			"EVAL return^redis.call('ZADD',KEYS[1],0,'x') 1 POOL:eligible", "EVAL return^redis.call('ZREM',KEYS[1],'x') 1 POOL:eligible",
			"EVAL return^redis.call('HGETALL',ARGV[1]) 0 POOL:endpoints", "EVAL return^redis.call('HGET',KEYS[1],'x') 1 POOL:endpoints")
	})
}

// olderJobs takes the line for workers with jobs on Redis 6.2.
func olderJobs(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#6.2# user worker") {
			kept = append(kept, strings.Replace(line, "#6.2-jobs# ", "#6.2# ", 1))
		}
	}
	return older(strings.Join(kept, ""))
}

func TestAWorkerMayRunAllItsScriptsAndNothingMore(t *testing.T) {
	for name, edit := range map[string]func(string) string{"7.0": strings.Clone, "6.2": olderJobs} {
		t.Run(name, func(t *testing.T) {
			url := testenv.Redis(t, "--include", testenv.ACL(t, edit))
			id, full := seeded(t, url)
			p := count(t, storeAs(t, "proxyward", url).Pool(check))
			c := testenv.Client(t, testenv.As("worker", url))
			keys := place{key: func(part string) string { return "proxyward:{" + check + "}:" + part }}.keys
			if got := lua(t, c, "allocate", keys("eligible")); got != id {
				t.Error(got)
			}
			if got := lua(t, c, "allocate_url", keys("eligible", "urls")); !slices.Equal(got.([]any), []any{id, full}) {
				t.Error(got)
			}
			lua(t, c, "report", keys("reports"), id, "passed", "", "", "w", "1")
			all := keys("eligible", "inflight", "jobs", "clock", "urls")
			first := lua(t, c, "acquire", all, 60_000, 2).([]any)
			second := lua(t, c, "acquire", all[:4], 60_000, "").([]any)
			if first[0] != id || first[2] != full || len(second) != 2 || lua(t, c, "acquire", all, 60_000, 2) != nil {
				t.Error(first, second)
			}
			releasing := keys("inflight", "jobs", "engaged", "reports")
			if got := lua(t, c, "release", releasing, first[1], "failed", "connect", "refused", "w"); got != int64(1) {
				t.Error(got)
			}
			disable(t, p, id)
			out := look(t, p, id)
			if got := lua(t, c, "release", releasing, second[1]); got != int64(1) || out.Jobs != 1 || look(t, p, id).Jobs != 0 {
				t.Error(got, out.Jobs)
			}
			sound(t, p)
			may(t, c, false, nobody...)
			may(t, c, false, "ZADD POOL:leases 1 x", "HSET POOL:endpoints a b", "HSET POOL:meta a b", "HGETALL POOL:engaged", "ZRANGEBYSCORE POOL:jobs 0 1",
				"UNLINK POOL:jobs", "ZINCRBY POOL:due:urgent 1 x", "HDEL POOL:tokens x", "ZREMRANGEBYSCORE POOL:jobs 0 1", "INFO", "SCAN 0",
				"EVAL return^redis.call('HGET',KEYS[1],'x') 1 POOL:meta", "EVAL return^redis.call('HGET',ARGV[1],'x') 0 POOL:meta")
			if name == "7.0" { // each command for its own keys only
				may(t, c, false, "ZADD POOL:eligible 1 x", "ZREM POOL:eligible x", "ZADD POOL:inflight 1 x", "ZREM POOL:inflight x", "HSET POOL:urls a b", "HDEL POOL:urls a",
					"HSET POOL:clock a b", "HGET POOL:clock high", "XADD POOL:jobs * a b", "ZRANGE POOL:jobs 0 -1", "ZINCRBY POOL:jobs 1 x", "ZADD POOL:reports 1 x",
					"EVAL return^redis.call('HSET',KEYS[1],'high','0') 1 POOL:clock", "EVAL return^redis.call('HSET',KEYS[1],'x','0') 1 POOL:urls")
			}
		})
	}
}

// On a Cluster the client itself asks for the slots, and follows to other nodes.
func TestTheUsersOnACluster(t *testing.T) {
	t.Parallel()
	nodes := testenv.Cluster(t, "--include", testenv.ACL(t))
	as := func(user string) *store.Store {
		return openStore(t, store.Address{Cluster: testenv.Addrs(nodes[1:2]), Username: user, Password: testenv.PasswordOf(user)})
	}
	s := as("proxyward")
	for _, name := range []string{"a", "b", "c", "d"} { // spread over the masters by their hash tags
		p := s.Pool(name)
		plant(t, p, record.Candidate, now(t, p), ids(0, 10)...)
		works(t, p)
		sound(t, p)
		if _, _, ok, err := as("worker").Pool(name).Allocate(t.Context()); !ok || err != nil {
			t.Error(name, ok, err)
		}
		if status, err := as("viewer").Pool(name).Discreet().Status(t.Context()); err != nil || status.States[record.Eligible] == 0 {
			t.Error(name, status, err)
		}
	}
	for _, user := range []string{"proxyward", "viewer"} {
		if names, err := as(user).Checks(t.Context()); err != nil || len(names) != 4 {
			t.Error(user, names, err)
		}
	}
	for _, n := range nodes { // nothing was tried in vain
		if log := testenv.Client(t, "redis://"+n.Addr).Do(t.Context(), "acl", "log").Val(); log != nil && len(log.([]any)) > 0 {
			t.Errorf("%s: %v", n.Addr, log)
		}
	}
	says(t, diagnosed(t, s, store.Looking{}), health.OK, "acl", "user proxyward may do all")
}

// How a raw ZINCRBY is found out is a matter of fsck; here: who may do what.
func TestSelectorsKeepAWorkersCommandsToTheirKeys(t *testing.T) {
	users(t, func(t *testing.T, url string, selectors bool) {
		c := testenv.Client(t, testenv.As("worker", url)) // nothing is there yet: a wrong type would stay
		may(t, c, !selectors, "XADD POOL:eligible * a b", "ZINCRBY POOL:urls 1 x")
	})
}

func TestAViewerSeesAllButURLs(t *testing.T) {
	users(t, func(t *testing.T, url string, _ bool) {
		id, _ := seeded(t, url)
		c := testenv.Client(t, testenv.As("viewer", url))
		may(t, c, true, "HGETALL POOL:endpoints", "HGET POOL:endpoints "+id, "ZRANGE POOL:eligible 0 -1", "ZRANGE POOL:due:recheck 0 -1", "XRANGE POOL:events - +",
			"HGETALL POOL:meta", "HGETALL POOL:clock", "SCAN 0", "INFO", "TIME", "PING", "XLEN POOL:reports")
		may(t, c, false, nobody...)
		may(t, c, false, "HGET POOL:urls "+id, "HGETALL POOL:urls", "HMGET POOL:urls "+id, "HSCAN POOL:urls 0", "HVALS POOL:urls", "HLEN POOL:urls",
			"EVAL return^1 0", "EVAL_RO return^1 0", "EVALSHA 0000000000000000000000000000000000000000 0", "SCRIPT EXISTS x",
			"HSET POOL:endpoints a b", "ZADD POOL:eligible 1 x", "ZINCRBY POOL:eligible 1 x", "XADD POOL:reports * a b", "PUBLISH POOL:wake x", "SUBSCRIBE POOL:wake")
		s := storeAs(t, "viewer", url)
		if names, err := s.Checks(t.Context()); err != nil || !slices.Equal(names, []string{check}) {
			t.Error(names, err)
		}
		p := s.Pool(check).Discreet()
		if status, err := p.Status(t.Context()); err != nil || status.States[record.Eligible] != 1 || status.Now == 0 {
			t.Error(status, err)
		}
		if e := look(t, p, id); !e.Member || e.Record.State != record.Eligible || e.URL != id {
			t.Errorf("%+v", e)
		}
		if _, err := p.Fsck(t.Context()); !refused(err) {
			t.Errorf("fsck reads passwords: %v", err)
		}
	})
}

// Who reads without a script sees what the script sees, save the URL.
func TestADiscreetLookSeesTheSame(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p, quiet := at.pool(t), at.store(t).Pool(check).Discreet()
		plant(t, p, record.Eligible, 1, id(0))
		plant(t, p, record.Cooling, 1, id(1))
		plant(t, p, record.Candidate, 1, ids(2, 5)...)
		disable(t, p, id(2))
		at.raw.HSet(t.Context(), at.key("urls"), id(0), "http://x:"+canary+"@10.0.0.1:10000")
		at.raw.ZIncrBy(t.Context(), at.key("eligible"), 1<<53-1, id(0)) // the longest score there is
		claim(t, p, request(2))
		all := append(ids(0, 5), "http://nobody:1")
		want, _, err := p.Look(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := quiet.Look(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range got {
			w := want[i]
			if e.URL != e.ID || e.Raw != w.Raw || e.Member != w.Member || e.Score != w.Score || e.Leased != w.Leased || e.LeaseMs != w.LeaseMs ||
				e.Token != w.Token || !maps.Equal(e.Lanes, w.Lanes) || e.Record.State != w.Record.State {
				t.Errorf("%+v\nwant %+v", e, w)
			}
		}
		ms, err := quiet.Time(t.Context())
		c, clockErr := quiet.Clock(t.Context())
		if err != nil || clockErr != nil || c.High == 0 || c.High > ms || c.Server+c.Offset < ms {
			t.Error(ms, err, c, clockErr)
		}
		at.raw.HSet(t.Context(), at.key("clock"), "high", "soon") // counts as absent
		if c, err := quiet.Clock(t.Context()); err != nil || c.High != 0 {
			t.Error(c, err)
		}
		at.raw.HDel(t.Context(), at.key("clock"), "high")
		at.raw.HDel(t.Context(), at.key("urls"), id(0))
	})
}
