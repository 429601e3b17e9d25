package store_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/health"
	"proxyward/store/record"
)

// diagnosed is what doctor says of a Redis.
func diagnosed(t *testing.T, s *store.Store, l store.Looking) []health.Finding {
	t.Helper()
	facts, err := s.Examine(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return health.Judge(facts)
}

// says fails unless one of the findings is this.
func says(t *testing.T, findings []health.Finding, severity health.Severity, topic, words string) {
	t.Helper()
	if !slices.ContainsFunc(findings, func(f health.Finding) bool {
		return f.Severity == severity && f.Topic == topic && strings.Contains(f.What, words)
	}) {
		t.Errorf("nothing %s about %s with %q in:\n%s", severity, topic, words, list(findings))
	}
}

func list(findings []health.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %s %v %s: %s\n", f.Severity, f.Topic, f.Nodes, f.Check, f.What)
	}
	return b.String()
}

// openStore opens a store until the test ends.
func openStore(t testing.TB, a store.Address) *store.Store {
	t.Helper()
	s, err := store.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Each trouble is made on a real server, one after the other; before and after it nothing
// is said about its topic.
func TestDoctorSeesTroublesOfARealServer(t *testing.T) {
	url := testenv.Redis(t, "--include", testenv.ACL(t), "--appendonly", "yes")
	admin, s := testenv.Client(t, url), storeAs(t, "proxyward", url)
	ctx, checks := t.Context(), store.Looking{Checks: map[string]time.Duration{check: time.Minute}}
	plant(t, s.Pool(check), record.Candidate, 1, id(0))
	l := one(t, s.Pool(check))
	commit(t, s.Pool(check), move(l, record.Eligible, now(t, s.Pool(check)), time.Minute))
	before := everything(t, admin)
	findings := diagnosed(t, s, checks)
	if health.Worst(findings) != health.OK {
		t.Fatalf("a sound server:\n%s", list(findings))
	}
	says(t, findings, health.OK, "pool", "1 of 1 endpoints eligible, 1 daemons alive")
	says(t, findings, health.OK, "acl", "user proxyward may do all")
	if after := everything(t, admin); after != before {
		t.Errorf("looking changed\n%s\ninto\n%s", before, after)
	}
	set := func(name, value string) func() { return func() { admin.ConfigSet(ctx, name, value) } }
	acl := func(rules ...any) func() {
		return func() {
			if err := admin.Do(ctx, append([]any{"acl", "setuser", "proxyward"}, rules...)...).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	hset := func(part, field string, value any) func() {
		return func() { admin.HSet(ctx, "proxyward:{"+check+"}:"+part, field, value) }
	}
	server := admin.Time(ctx).Val().UnixMilli()
	for _, c := range []struct {
		name       string
		make, undo func()
		severity   health.Severity
		topic      string
		words      string
	}{
		{"evicts", set("maxmemory-policy", "allkeys-lru"), set("maxmemory-policy", "noeviction"), health.Hurts, "eviction", "maxmemory-policy is allkeys-lru"},
		{"evicts what expires", set("maxmemory-policy", "volatile-lru"), set("maxmemory-policy", "noeviction"), health.Warning, "eviction", "a pool has none"},
		{"memory is full", set("maxmemory", "1mb"), set("maxmemory", "0"), health.Hurts, "memory", "of maxmemory 1.0 MiB are used"},
		{"nothing is kept", set("appendonly", "no"), set("appendonly", "yes"), health.Warning, "persistence", "cannot be read by this user"},
		{"no ZADD, no PUBLISH", acl("-zadd", "-publish"), acl("+zadd", "+publish"), health.Hurts, "acl", "may not run zadd publish: a script"},
		{"no MULTI", acl("-multi"), acl("+multi"), health.Hurts, "acl", "may not run multi"},
		{"no INFO", acl("-info"), acl("+info"), health.Warning, "server", "INFO may not be read"},
		{"keys of others", acl("resetkeys", "~proxyward:{"+check+"}:[^u]*"), acl("resetkeys", "~proxyward:{*}:*"), health.Hurts, "acl", "may not use the keys proxyward:{c}:urls"},
		{"the channel", acl("resetchannels"), acl("&proxyward:{*}:wake"), health.Hurts, "acl", "may not use the keys proxyward:{c}:wake"},
		{"scripts are gone", func() { admin.ScriptFlush(ctx) }, func() {}, health.OK, "scripts", "it knows "},
		{"another schema", hset("meta", "schema", "99"), hset("meta", "schema", "1"), health.Hurts, "schema", "schema 99"},
		{"the clock is behind", hset("clock", "high", server+3600_000), hset("clock", "high", server), health.Warning, "clock", "behind the pool's time"},
		{"leases are held", hset("clock", "held", server+3600_000), hset("clock", "held", 0), health.Warning, "clock", "no lease expires for"},
		{"a key of another type", func() { admin.Set(ctx, "proxyward:{"+check+"}:admitted", "x", 0) }, func() { admin.Del(ctx, "proxyward:{"+check+"}:admitted") },
			health.Hurts, "pool", "cannot be read"},
		{"a replica", func() { admin.ReplicaOf(ctx, "127.0.0.1", "1") }, func() { admin.ReplicaOf(ctx, "no", "one") }, health.Hurts, "role", "read-only replica"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.make()
			says(t, diagnosed(t, s, checks), c.severity, c.topic, c.words)
			c.undo()
		})
	}
	admin.ZRem(ctx, "proxyward:{"+check+"}:daemons", "d")
	says(t, diagnosed(t, s, checks), health.Warning, "daemons", "no daemon is alive")
	says(t, diagnosed(t, s, store.Looking{Checks: map[string]time.Duration{"new": 0}}), health.Warning, "pool", "does not name it")
	says(t, diagnosed(t, s, store.Looking{Checks: map[string]time.Duration{"new": 0}}), health.OK, "pool", "nothing yet")
	says(t, diagnosed(t, openStore(t, store.Address{URL: url}), checks), health.OK, "acl", "user default may do all")
}

// everything is what all keys hold.
func everything(t *testing.T, admin *redis.Client) string {
	t.Helper()
	keys := admin.Keys(t.Context(), "*").Val()
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&b, "%s %x %v\n", key, admin.Dump(t.Context(), key).Val(), admin.TTL(t.Context(), key).Val())
	}
	if b.Len() == 0 {
		t.Fatal("there are no keys")
	}
	return b.String()
}

func TestDoctorAsAViewer(t *testing.T) {
	url := testenv.Redis(t, "--include", testenv.ACL(t))
	seeded(t, url)
	findings := diagnosed(t, storeAs(t, "viewer", url), store.Looking{})
	says(t, findings, health.Hurts, "acl", "user viewer may not run")
	says(t, findings, health.OK, "version", "Redis ")
	says(t, findings, health.OK, "eviction", "noeviction")
	says(t, findings, health.OK, "pool", "1 of 1 endpoints eligible")
	findings = diagnosed(t, storeAs(t, "worker", url), store.Looking{Checks: map[string]time.Duration{check: 0}})
	says(t, findings, health.Hurts, "acl", "user worker may not run")
	says(t, findings, health.Warning, "server", "INFO may not be read")
	says(t, findings, health.Hurts, "pool", "cannot be read")
}

func TestDoctorOnTheEmbeddedRedis(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, url string) {
		s := openStore(t, store.Address{URL: url})
		plant(t, s.Pool(check), record.Candidate, 1, id(0))
		findings := diagnosed(t, s, store.Looking{})
		if health.Worst(findings) != health.Warning {
			t.Errorf("%s", list(findings))
		}
		if strings.HasPrefix(t.Name(), "TestDoctorOnTheEmbeddedRedis/mini") {
			says(t, findings, health.Warning, "server", "the embedded Redis of proxyward")
		} else {
			says(t, findings, health.Warning, "persistence", "nothing is kept")
		}
		says(t, findings, health.Warning, "pool", "none of its 1 endpoints is eligible")
	})
}

// Services take CONFIG away.
func TestDoctorWithoutCONFIG(t *testing.T) {
	s := openStore(t, store.Address{URL: testenv.Redis(t, "--rename-command", "CONFIG", "")})
	findings := diagnosed(t, s, store.Looking{})
	says(t, findings, health.OK, "eviction", "noeviction") // INFO tells it too
	says(t, findings, health.Warning, "persistence", "cannot be read by this user")
}

func TestDoctorMeasuresRoundTrips(t *testing.T) {
	url := testenv.Redis(t)
	s := openStore(t, store.Address{URL: "redis://" + slow(t, strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0"), 60*time.Millisecond)})
	says(t, diagnosed(t, s, store.Looking{}), health.Warning, "latency", "of 20 round trips the median is ")
}

// slow is an address that passes everything on to another, each answer late by d.
func slow(t *testing.T, to string, d time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				return
			}
			go func() { io.Copy(out, in); out.Close() }()
			go func() { io.Copy(late{in, d}, out); in.Close() }()
		}
	}()
	return l.Addr().String()
}

type late struct {
	io.Writer
	by time.Duration
}

func (l late) Write(b []byte) (int, error) {
	time.Sleep(l.by)
	return l.Writer.Write(b)
}

func TestDoctorSeesAClockThatLeaps(t *testing.T) {
	clock := testenv.NewClock(t)
	path, port := testenv.Program(t, "redis-server"), testenv.Port(t)
	testenv.StartBy(t, clock.Begin, path, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	testenv.WaitTCP(t, fmt.Sprintf("127.0.0.1:%d", port))
	url := fmt.Sprintf("redis://127.0.0.1:%d/0", port)
	s, admin := openStore(t, store.Address{URL: url}), testenv.Client(t, url)
	says(t, diagnosed(t, s, store.Looking{Watch: 100 * time.Millisecond}), health.OK, "clock", "runs as ours does")
	admin.ConfigResetStat(t.Context())
	done := make(chan []health.Finding)
	go func() {
		facts, _ := s.Examine(context.WithoutCancel(t.Context()), store.Looking{Watch: time.Second})
		done <- health.Judge(facts)
	}()
	testenv.Eventually(t, 10*time.Second, "it pings", func() bool { // so its first look at the clock is over
		return strings.Contains(admin.Info(t.Context(), "commandstats").Val(), "cmdstat_script|exists")
	})
	clock.Step(t, time.Hour)
	says(t, <-done, health.Hurts, "clock", "leapt by +1h0m0s")
	says(t, diagnosed(t, s, store.Looking{}), health.OK, "clock", "differs from this machine's by +1h0m0s")
}

func TestDoctorWithoutAServer(t *testing.T) {
	s := openStore(t, store.Address{URL: "redis://" + testenv.Nobody(t)})
	if _, err := s.Examine(t.Context(), store.Looking{}); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
	if _, err := s.Glance(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}
