package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

// Streams lie on every master; one of them dies with reports that were taken and not applied.
func TestReportsOnAClusterThatFailsOver(t *testing.T) {
	t.Parallel()
	nodes := testenv.Cluster(t)
	s, err := store.Open(store.Address{Cluster: testenv.Addrs(nodes[3:])})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: testenv.Addrs(nodes)})
	t.Cleanup(func() { cluster.Close() })
	write := func(p *store.Pool, i int) error {
		return cluster.Do(t.Context(), "XADD", "proxyward:{"+p.Name()+"}:reports", "*", "endpoint", id(0), "outcome", "failed", "at_ms", i).Err()
	}
	var pools []*store.Pool
	for i := range 6 {
		p := s.Pool(fmt.Sprint("check", i))
		pools = append(pools, p)
		plant(t, p, record.Eligible, 1<<45, id(0))
		if err := write(p, 1); err != nil {
			t.Fatal(err)
		}
		if r := reports(t, p, "a"); len(r) != 1 {
			t.Fatal(r)
		}
	}
	master, replica := testenv.Client(t, "redis://"+nodes[0].Addr), testenv.Client(t, "redis://"+nodes[3].Addr)
	offset := func(c *redis.Client) string {
		_, after, _ := strings.Cut(c.Info(t.Context(), "replication").Val(), "master_repl_offset:")
		return strings.Fields(after + " ")[0]
	}
	testenv.Eventually(t, 10*time.Second, "the replica has it all", func() bool { return offset(master) == offset(replica) })
	nodes[0].Kill()
	for _, p := range pools {
		testenv.Eventually(t, 30*time.Second, p.Name()+" takes a new report, and its stream can be left", func() bool {
			if write(p, 2) != nil {
				cluster.ReloadState(t.Context())
				return false
			}
			r, _, err := p.ReadReports(t.Context(), "b")
			if err != nil || len(r) == 0 {
				return false
			}
			codes, err := p.ApplyReports(t.Context(), 5, []store.ReportChange{{Endpoint: id(0), Entries: []string{r[0].Entry}, Tally: map[string]int{"applied": 1},
				Next: "x", EndsMs: 1 << 45}})
			return err == nil && codes[0] == store.Applied && p.LeaveReports(t.Context(), "b") == nil
		})
		if counts := reportCounts(t, p); counts["applied"] != 1 {
			t.Errorf("%s: %v", p.Name(), counts)
		}
		sound(t, p)
	}
}
