package health_test

import (
	"strings"
	"testing"
	"time"

	"proxyward/store/health"
)

// sound is a server with nothing to say against; each case changes it.
func sound() health.Node {
	return health.Node{
		Addr: "10.0.0.1:6379",
		Info: map[string]string{"redis_version": "7.0.15", "role": "master", "maxmemory_policy": "noeviction", "maxmemory": "1000000000",
			"used_memory": "1000000", "used_memory_rss": "2000000", "total_system_memory": "8000000000", "aof_enabled": "1",
			"rdb_last_bgsave_status": "ok", "aof_last_write_status": "ok", "loading": "0", "cluster_enabled": "0", "connected_slaves": "0"},
		Trips: []time.Duration{time.Millisecond, 2 * time.Millisecond}, Scripts: 10, Loaded: 10,
	}
}

func member() health.Node {
	n := sound()
	n.Info["cluster_enabled"], n.Info["connected_slaves"] = "1", "1"
	n.Topology = map[string]string{"cluster_state": "ok", "cluster_slots_assigned": "16384", "cluster_slots_fail": "0", "cluster_size": "3"}
	return n
}

func info(pairs ...string) func(*health.Facts) {
	return func(f *health.Facts) {
		for i := 0; i < len(pairs); i += 2 {
			f.Nodes[0].Info[pairs[i]] = pairs[i+1]
		}
	}
}

func node(change func(*health.Node)) func(*health.Facts) {
	return func(f *health.Facts) { change(&f.Nodes[0]) }
}

func cluster(change func(*health.Node)) func(*health.Facts) {
	return func(f *health.Facts) {
		f.Cluster, f.Nodes[0] = true, member()
		change(&f.Nodes[0])
	}
}

// Each trouble alone is found, with its severity, and nothing else is.
func TestEachTroubleIsFoundAndNamed(t *testing.T) {
	const hurts, warning = health.Hurts, health.Warning
	for _, c := range []struct {
		name     string
		change   func(*health.Facts)
		severity health.Severity
		topic    string
		words    string
	}{
		{"old", info("redis_version", "6.0.16"), hurts, "version", "6.0.16 is too old"},
		{"older still", info("redis_version", "5"), hurts, "version", "too old"},
		{"no INFO", node(func(n *health.Node) { n.Info = nil }), warning, "server", "may not be read"},
		{"an INFO without a version", node(func(n *health.Node) { n.Info = map[string]string{"connected_clients": "1"} }), warning, "server", "embedded Redis"},
		{"evicts by use", info("maxmemory_policy", "allkeys-lru"), hurts, "eviction", "once memory is full"},
		{"evicts by use, without a limit yet", info("maxmemory_policy", "allkeys-lfu", "maxmemory", "0"), hurts, "eviction", "as soon as a maxmemory is set"},
		{"evicts at random", info("maxmemory_policy", "allkeys-random"), hurts, "eviction", "allkeys-random"},
		{"evicts what expires", info("maxmemory_policy", "volatile-ttl"), warning, "eviction", "a pool has none"},
		{"a policy of the future", info("maxmemory_policy", "somekeys"), warning, "eviction", "does not know"},
		{"a policy that is not told", info("maxmemory_policy", ""), warning, "eviction", "cannot be read here"},
		{"nothing is kept", node(func(n *health.Node) { n.Info["aof_enabled"], n.Save = "0", health.Setting{Known: true} }), warning, "persistence", "nothing is kept"},
		{"nobody tells of snapshots", info("aof_enabled", "0"), warning, "persistence", "cannot be read by this user"},
		{"nobody tells of files", info("aof_enabled", ""), warning, "persistence", "cannot be read here"},
		{"near its limit", info("used_memory", "900000000"), hurts, "memory", "858 MiB of maxmemory 954 MiB"},
		{"on the way there", info("used_memory", "760000000"), warning, "memory", "are used"},
		{"no limit, and a full machine", info("maxmemory", "0", "used_memory_rss", "7000000000"), warning, "memory", "the system may kill Redis"},
		{"memory is not told", info("used_memory", ""), warning, "memory", "cannot be read"},
		{"a snapshot failed", info("rdb_last_bgsave_status", "err"), hurts, "saving", "last snapshot failed"},
		{"the file cannot be written", info("aof_last_write_status", "err"), hurts, "saving", "append-only"},
		{"it loads", info("loading", "1"), warning, "saving", "loading"},
		{"a replica", info("role", "slave", "master_host", "10.0.0.9", "master_port", "6380", "master_link_status", "up"), hurts, "role", "read-only replica"},
		{"a node of a cluster, alone", info("cluster_enabled", "1"), hurts, "role", "node of a cluster"},
		{"slow", node(func(n *health.Node) { n.Trips = []time.Duration{60e6, 70e6, 80e6} }), warning, "latency", "median is 70ms, the worst 80ms"},
		{"very slow", node(func(n *health.Node) { n.Trips = []time.Duration{600e6} }), hurts, "latency", "600ms"},
		{"slow once", node(func(n *health.Node) { n.Trips = []time.Duration{1e6, 1e6, 700e6} }), warning, "latency", "worst 700ms"},
		{"very slow once", node(func(n *health.Node) { n.Trips = []time.Duration{1e6, 1e6, 2100e6} }), hurts, "latency", "worst 2.1s"},
		{"no trip", node(func(n *health.Node) { n.Trips = nil }), warning, "latency", "no round trip"},
		{"the clock leaps", node(func(n *health.Node) { n.Leap = -time.Hour }), hurts, "clock", "leapt by -1h0m0s"},
		{"a command is denied", node(func(n *health.Node) { n.Lacks, n.Halts = []string{"zadd", "scan"}, []string{"zadd"} }), hurts, "acl", "may not run zadd scan: a script"},
		{"a key is denied", node(func(n *health.Node) { n.LockedKeys = []string{"proxyward:{c}:urls"} }), hurts, "acl", "proxyward:{c}:urls"},
		{"a command is not there", node(func(n *health.Node) { n.Unknown = []string{"xautoclaim"} }), hurts, "commands", "xautoclaim"},

		{"a cluster that is down", cluster(func(n *health.Node) { n.Topology["cluster_state"] = "fail" }), hurts, "cluster", "is down"},
		{"slots nobody has", cluster(func(n *health.Node) { n.Topology["cluster_slots_assigned"] = "16000" }), hurts, "cluster", "16000 of 16384"},
		{"slots that failed", cluster(func(n *health.Node) { n.Topology["cluster_slots_fail"] = "5461" }), hurts, "cluster", "5461 slots"},
		{"a master alone", cluster(func(n *health.Node) { n.Info["connected_slaves"] = "0" }), warning, "replication", "without a replica"},
		{"a replica without its master", cluster(func(n *health.Node) { n.Info["role"], n.Info["master_link_status"] = "slave", "down" }), warning, "replication", "link to its master is down"},
		{"a node that is away", cluster(func(n *health.Node) { *n = health.Node{Addr: "10.0.0.1:1", Away: "i/o timeout"} }), hurts, "reach", "i/o timeout"},
		{"clocks that differ", func(f *health.Facts) {
			f.Cluster, f.Nodes = true, []health.Node{member(), member()}
			f.Nodes[1].Addr, f.Nodes[1].Ahead = "10.0.0.2:6379", time.Minute
		}, warning, "clock", "10.0.0.2:6379 is 1m0s ahead of that of 10.0.0.1:6379"},
		{"sentinels without a quorum", func(f *health.Facts) {
			f.Nodes[0].Info["connected_slaves"] = "1"
			f.Sentinel = &health.Watch{Asked: 3, Answered: 3, NoQuorum: "1 usable Sentinels"}
		}, hurts, "sentinel", "cannot fail over: 1 usable"},
		{"a sentinel is away", func(f *health.Facts) {
			f.Nodes[0].Info["connected_slaves"] = "1"
			f.Sentinel = &health.Watch{Asked: 3, Answered: 2}
		}, warning, "sentinel", "2 of 3"},
		{"no sentinel", func(f *health.Facts) {
			f.Nodes[0].Info["connected_slaves"] = "1"
			f.Sentinel = &health.Watch{Asked: 3}
		}, warning, "sentinel", "no sentinel says"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := health.Facts{User: "ward", Nodes: []health.Node{sound()}}
			c.change(&f)
			only(t, health.Judge(f), c.severity, c.topic, c.words)
		})
	}
}

// only: of all findings one is not well, and it is this.
func only(t *testing.T, findings []health.Finding, severity health.Severity, topic, words string) {
	t.Helper()
	if health.Worst(findings) != severity {
		t.Errorf("the worst is %s, want %s", health.Worst(findings), severity)
	}
	for i, f := range findings {
		switch {
		case i == 0 && (f.Severity != severity || f.Topic != topic || !strings.Contains(f.What, words)):
			t.Errorf("%+v\nwant %s %s: %s", f, severity, topic, words)
		case i > 0 && f.Severity != health.OK:
			t.Errorf("beside it: %+v", f)
		case f.Severity != health.OK && f.Mend == "" && f.Topic != "latency":
			t.Errorf("no word what to do: %+v", f)
		}
	}
}

func TestASoundServerIsWell(t *testing.T) {
	valkey := sound()
	valkey.Info["redis_version"], valkey.Info["server_name"], valkey.Info["valkey_version"] = "7.2.4", "valkey", "8.1.1"
	snapshots := sound()
	snapshots.Info["aof_enabled"], snapshots.Save = "0", health.Setting{Value: "3600 1 300 100", Known: true}
	restarted := sound()
	restarted.Loaded = 0
	for name, c := range map[string]struct {
		node  health.Node
		words string
	}{
		"as it is": {sound(), "Redis 7.0.15"}, "valkey": {valkey, "valkey 8.1.1 (as Redis 7.2.4)"}, "snapshots": {snapshots, "save 3600 1 300 100"},
		"just restarted": {restarted, "it knows 0 of 10 scripts: usual after a restart"},
	} {
		t.Run(name, func(t *testing.T) {
			findings := health.Judge(health.Facts{Nodes: []health.Node{c.node}})
			said := false
			for _, f := range findings {
				said = said || strings.Contains(f.What, c.words)
			}
			if health.Worst(findings) != health.OK || !said || len(findings) < 8 {
				t.Errorf("%+v", findings)
			}
		})
	}
}

func TestWhatIsTrueOfManyNodesIsSaidOnce(t *testing.T) {
	f := health.Facts{Cluster: true, Nodes: []health.Node{member(), member(), member()}}
	f.Nodes[1].Addr, f.Nodes[2].Addr = "10.0.0.2:6379", "10.0.0.3:6379"
	f.Nodes[1].Info["maxmemory_policy"], f.Nodes[2].Info["maxmemory_policy"] = "allkeys-lru", "allkeys-lru"
	findings := health.Judge(f)
	if first := findings[0]; first.Topic != "eviction" || strings.Join(first.Nodes, " ") != "10.0.0.2:6379 10.0.0.3:6379" {
		t.Errorf("%+v", first)
	}
	if second := findings[1]; second.Severity != health.OK {
		t.Errorf("%+v", second)
	}
}

func TestEachTroubleOfAPoolIsFound(t *testing.T) {
	const hurts, warning, fine = health.Hurts, health.Warning, health.OK
	for _, c := range []struct {
		name     string
		change   func(*health.Pool)
		severity health.Severity
		topic    string
		words    string
	}{
		{"nothing", func(*health.Pool) {}, fine, "pool", "7 of 9 endpoints eligible, 2 daemons alive"},
		{"not there yet", func(p *health.Pool) { p.Exists = false }, fine, "pool", "nothing yet"},
		{"cannot be read", func(p *health.Pool) { p.Broken = "WRONGTYPE" }, hurts, "pool", "WRONGTYPE"},
		{"nobody's", func(p *health.Pool) { p.Configured, p.Daemons = false, 0 }, warning, "pool", "does not name it"},
		{"no daemon", func(p *health.Pool) { p.Daemons = 0 }, warning, "daemons", "no daemon is alive"},
		{"daemons without results", func(p *health.Pool) { p.LastCommitMs = p.NowMs - 16*60_000 }, warning, "daemons", "no result for 16m0s"},
		{"rechecks that are far apart", func(p *health.Pool) { p.LastCommitMs, p.Recheck = p.NowMs-16*60_000, 10*time.Minute }, fine, "pool", "7 of 9"},
		{"nobody eligible", func(p *health.Pool) { p.Eligible = 0 }, warning, "pool", "none of its 9 endpoints"},
		{"another schema", func(p *health.Pool) { p.Schema = "7" }, hurts, "schema", "schema 7; this version knows those up to 2"},
		{"a schema that is none", func(p *health.Pool) { p.Schema = "new" }, hurts, "schema", "schema new"},
		{"Redis's clock is behind", func(p *health.Pool) { p.BehindMs = 3600_000 }, warning, "clock", "1h0m0s behind"},
		{"leases are held", func(p *health.Pool) { p.HeldMs = p.NowMs + 25_000 }, warning, "clock", "no lease expires for 25s"},
		{"a leap today", func(p *health.Pool) { p.HeldMs, p.OffsetMs = p.NowMs-3600_000, -7200_000 }, warning, "clock", "leapt some 1h0m0s ago; the pool's time went on (-2h0m0s in all)"},
		{"a leap long ago", func(p *health.Pool) { p.HeldMs, p.OffsetMs = p.NowMs-48*3600_000, 7200_000 }, fine, "clock", "+2h0m0s from Redis's clock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := health.Pool{Name: "c", Configured: true, Exists: true, Endpoints: 9, Eligible: 7, Daemons: 2, NowMs: 1e12, LastCommitMs: 1e12 - 5000,
				Schema: "1", Newest: 2}
			c.change(&p)
			findings := health.Judge(health.Facts{Owned: true, Pools: []health.Pool{p}})
			if c.severity != fine {
				only(t, findings, c.severity, c.topic, c.words)
				return
			}
			said := false
			for _, f := range findings {
				said = said || f.Topic == c.topic && strings.Contains(f.What, c.words)
			}
			if health.Worst(findings) != fine || !said {
				t.Errorf("%+v", findings)
			}
		})
	}
}

func TestWhatStopsADaemon(t *testing.T) {
	evicting, unknown, halting, harmless := sound(), sound(), sound(), sound()
	evicting.Info["maxmemory_policy"] = "allkeys-lru"
	unknown.Info = map[string]string{}
	halting.Lacks, halting.Halts = []string{"zadd"}, []string{"zadd"}
	harmless.Lacks = []string{"unlink"}
	for name, c := range map[string]struct {
		node health.Node
		want [3]int
	}{
		"nothing": {sound(), [3]int{0, 0, 0}}, "eviction": {evicting, [3]int{1, 0, 0}}, "a policy nobody tells": {unknown, [3]int{0, 0, 1}},
		"a script would halt": {halting, [3]int{0, 1, 0}}, "a command would fail": {harmless, [3]int{0, 0, 0}},
	} {
		evicts, lacks, unsure := health.Fitness(health.Facts{Nodes: []health.Node{c.node}})
		if got := [3]int{len(evicts), len(lacks), len(unsure)}; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
