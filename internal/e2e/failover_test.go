package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
)

func TestSentinelsFailOverUnderLoad(t *testing.T) {
	t.Parallel()
	servers, sentinels := testenv.Sentinels(t)
	addrs := testenv.Addrs(sentinels)
	x := underLoad(t, fmt.Sprintf("{sentinel: {master: %s, addresses: [%q, %q, %q]}}", testenv.SentinelMaster, addrs[0], addrs[1], addrs[2]),
		servers, redis.NewUniversalClient(&redis.UniversalOptions{MasterName: testenv.SentinelMaster, Addrs: addrs}))
	master := testenv.Master(t, sentinels[0], servers)
	f := x.through("Sentinel, master killed", servers[master].Kill)
	if f.pause > 8*time.Second+x.stall() {
		t.Errorf("no commit for %v", f.pause)
	}
	f = x.through("Sentinel, planned failover", func() { testenv.Promote(t, sentinels[0], servers) })
	if f.pause > 8*time.Second+x.stall() {
		t.Errorf("no commit for %v", f.pause)
	}
}

func TestAClusterFailsOverAndASlotMovesUnderLoad(t *testing.T) {
	t.Parallel()
	nodes := testenv.Cluster(t)
	addrs := testenv.Addrs(nodes)
	quoted := `"` + strings.Join(addrs, `", "`) + `"`
	x := underLoad(t, "{cluster: {addresses: ["+quoted+"]}}", nodes, redis.NewUniversalClient(&redis.UniversalOptions{IsClusterMode: true, Addrs: addrs}))
	slot, from := testenv.Slot(t, nodes, "proxyward:{c}:eligible")
	to := (from + 1) % 3
	f := x.through("Cluster, slot moved", func() { testenv.MoveSlot(t, nodes, slot, from, to, 50*time.Millisecond) })
	if f.pause > 6*time.Second+x.stall() {
		t.Errorf("no commit for %v", f.pause)
	}
	f = x.through("Cluster, master killed", nodes[to].Kill)
	if f.pause > 6*time.Second+x.stall() {
		t.Errorf("no commit for %v", f.pause)
	}
}
