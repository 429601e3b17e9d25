package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Node is one server of a group.
type Node struct {
	Addr string
	cmd  *exec.Cmd
}

// Kill ends the server at once, as a power cut does.
func (n Node) Kill() { n.cmd.Process.Kill() }

func startNode(t testing.TB, port int, args ...string) Node {
	t.Helper()
	path := Program(t, "redis-server")
	cmd := Start(t, path, append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "",
		"--appendonly", "no", "--maxmemory-policy", "noeviction", "--loglevel", "warning", "--repl-diskless-sync-delay", "0"}, args...)...)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	WaitTCP(t, addr)
	return Node{addr, cmd}
}

// Cluster starts three masters with a replica each; a node that is silent for two seconds
// is taken for dead. The first three nodes are the masters.
func Cluster(t testing.TB, args ...string) []Node {
	t.Helper()
	var nodes []Node
	for range 6 {
		port := Port(t)
		for port > 55000 { // the bus listens 10000 above
			port = Port(t)
		}
		nodes = append(nodes, startNode(t, port, append([]string{"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
			"--cluster-node-timeout", "2000", "--cluster-replica-validity-factor", "0"}, args...)...))
	}
	bounds := []string{"0", "5460", "5461", "10922", "10923", "16383"}
	for i, n := range nodes {
		if i < 3 {
			do(t, n, "cluster", "addslotsrange", bounds[2*i], bounds[2*i+1])
		}
		do(t, n, "cluster", "set-config-epoch", strconv.Itoa(i+1))
	}
	host, port, _ := strings.Cut(nodes[0].Addr, ":")
	for _, n := range nodes[1:] {
		do(t, n, "cluster", "meet", host, port)
	}
	for i, replica := range nodes[3:] {
		id := do(t, nodes[i], "cluster", "myid")
		Eventually(t, 20*time.Second, "the replica knows its master", func() bool {
			return ask(replica, "cluster", "replicate", id) == "OK"
		})
	}
	for _, n := range nodes {
		Eventually(t, 30*time.Second, "the cluster is whole", func() bool {
			return strings.Contains(ask(n, "cluster", "info"), "cluster_state:ok") && strings.Count(ask(n, "cluster", "nodes"), "slave") == 3
		})
	}
	return nodes
}

// SentinelMaster is the name of the master that the sentinels of Sentinels watch.
const SentinelMaster = "ward"

// Sentinels starts a master, two replicas and three sentinels that take a master silent
// for a second for dead.
func Sentinels(t testing.TB) (servers, sentinels []Node) {
	t.Helper()
	master := Port(t)
	servers = append(servers, startNode(t, master))
	for range 2 {
		servers = append(servers, startNode(t, Port(t), "--replicaof", "127.0.0.1 "+strconv.Itoa(master)))
	}
	path := Program(t, "redis-server")
	for range 3 {
		port, dir := Port(t), t.TempDir()
		conf := filepath.Join(dir, "sentinel.conf")
		text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor %s 127.0.0.1 %d 2\nsentinel down-after-milliseconds %[3]s 1000\n"+
			"sentinel failover-timeout %[3]s 6000\nsentinel parallel-syncs %[3]s 2\n", port, dir, SentinelMaster, master)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := Start(t, path, conf, "--sentinel")
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		WaitTCP(t, addr)
		sentinels = append(sentinels, Node{addr, cmd})
	}
	for _, s := range sentinels {
		Eventually(t, 30*time.Second, "the sentinel knows the replicas and the other sentinels", func() bool {
			state := strings.Fields(ask(s, "sentinel", "master", SentinelMaster))
			return after(state, "num-slaves") == "2" && after(state, "num-other-sentinels") == "2"
		})
	}
	return servers, sentinels
}

func after(words []string, word string) string {
	for i, w := range words[:max(0, len(words)-1)] {
		if w == word {
			return words[i+1]
		}
	}
	return ""
}

// Addrs are the addresses of nodes.
func Addrs(nodes []Node) (addrs []string) {
	for _, n := range nodes {
		addrs = append(addrs, n.Addr)
	}
	return addrs
}

func do(t testing.TB, n Node, args ...any) string {
	t.Helper()
	reply := ask(n, args...)
	if strings.HasPrefix(reply, "error: ") {
		t.Fatalf("%v: %s", args, reply)
	}
	return reply
}

// ask sends one command to a node and writes its reply as text.
func ask(n Node, args ...any) string {
	c := redis.NewClient(&redis.Options{Addr: n.Addr, Protocol: 2})
	defer c.Close()
	reply, err := c.Do(context.Background(), args...).Result()
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.Trim(fmt.Sprint(reply), "[]")
}

// Do sends one command to the node and returns its reply as text.
func (n Node) Do(t testing.TB, args ...any) string {
	t.Helper()
	return do(t, n, args...)
}

// Master is the one of the servers that the sentinel takes for the master now.
func Master(t testing.TB, sentinel Node, servers []Node) (at int) {
	t.Helper()
	host, port, _ := strings.Cut(sentinel.Do(t, "sentinel", "get-master-addr-by-name", SentinelMaster), " ")
	at = slices.IndexFunc(servers, func(n Node) bool { return n.Addr == host+":"+port })
	if at < 0 {
		t.Fatalf("the master is %s:%s, which is none of %v", host, port, Addrs(servers))
	}
	return at
}

// Slot is the slot of a key, and the node of a fresh Cluster that has it.
func Slot(t testing.TB, nodes []Node, key string) (slot, at int) {
	t.Helper()
	slot, err := strconv.Atoi(nodes[0].Do(t, "cluster", "keyslot", key))
	if err != nil {
		t.Fatal(err)
	}
	return slot, max(0, slot-1) / 5461 // as Cluster deals them out
}

// MoveSlot moves a slot to another master while it is in use, as an operator's tools do:
// key by key, with a pause after each.
func MoveSlot(t testing.TB, nodes []Node, slot, from, to int, pause time.Duration) {
	t.Helper()
	source, target := nodes[from], nodes[to]
	sourceID, targetID := source.Do(t, "cluster", "myid"), target.Do(t, "cluster", "myid")
	target.Do(t, "cluster", "setslot", slot, "importing", sourceID)
	source.Do(t, "cluster", "setslot", slot, "migrating", targetID)
	host, port, _ := strings.Cut(target.Addr, ":")
	for {
		key := source.Do(t, "cluster", "getkeysinslot", slot, 1)
		if key == "" {
			break
		}
		source.Do(t, "migrate", host, port, key, 0, 5000)
		time.Sleep(pause)
	}
	for _, n := range []Node{target, source} { // the target first: else nobody has it for a moment
		n.Do(t, "cluster", "setslot", slot, "node", targetID)
	}
}

// Promote makes the sentinels put another server in the master's place, as for maintenance.
func Promote(t testing.TB, sentinel Node, servers []Node) {
	t.Helper()
	before := Master(t, sentinel, servers)
	asked := time.Time{}
	Eventually(t, 60*time.Second, "another master", func() bool {
		if time.Since(asked) > 5*time.Second { // it gives up when no replica is well enough for the moment
			ask(sentinel, "sentinel", "failover", SentinelMaster)
			asked = time.Now()
		}
		return Master(t, sentinel, servers) != before
	})
}
