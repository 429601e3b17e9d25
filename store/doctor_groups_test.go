package store_test

import (
	"slices"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/health"
	"proxyward/store/record"
)

func TestDoctorOnACluster(t *testing.T) {
	t.Parallel()
	nodes := testenv.Cluster(t)
	s := openStore(t, store.Address{Cluster: testenv.Addrs(nodes[:3])})
	plant(t, s.Pool(check), record.Candidate, 1, id(0))
	var findings []health.Finding
	testenv.Eventually(t, 20*time.Second, "the replicas are known", func() bool {
		facts, err := s.Examine(t.Context(), store.Looking{})
		findings = health.Judge(facts)
		return err == nil && len(facts.Nodes) == 6
	})
	says(t, findings, health.OK, "cluster", "all slots are served, by 3 masters")
	says(t, findings, health.OK, "role", "a replica")
	if health.Worst(findings) == health.Hurts {
		t.Errorf("%s", list(findings))
	}
	alone := openStore(t, store.Address{URL: "redis://" + nodes[0].Addr})
	says(t, diagnosed(t, alone, store.Looking{}), health.Hurts, "role", "node of a cluster, reached as a single server")
	nodes[4].Kill()
	testenv.Eventually(t, 20*time.Second, "the replica that died is missed", func() bool {
		facts, err := s.Examine(t.Context(), store.Looking{})
		if err != nil {
			return false
		}
		return slices.ContainsFunc(health.Judge(facts), func(f health.Finding) bool {
			return f.Severity != health.OK && (f.Topic == "reach" || f.Topic == "replication")
		})
	})
}

func TestDoctorOnAClusterWithoutAllSlots(t *testing.T) {
	url := testenv.Redis(t, "--cluster-enabled", "yes")
	admin := testenv.Client(t, url)
	if err := admin.ClusterAddSlotsRange(t.Context(), 0, 16000).Err(); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, store.Address{Cluster: []string{admin.Options().Addr}})
	findings := diagnosed(t, s, store.Looking{})
	says(t, findings, health.Hurts, "cluster", "the cluster is down")
	says(t, findings, health.Hurts, "cluster", "16001 of 16384 slots")
}

func TestDoctorAsksTheSentinels(t *testing.T) {
	t.Parallel()
	_, sentinels := testenv.Sentinels(t)
	s := openStore(t, store.Address{Sentinel: store.Sentinel{Master: testenv.SentinelMaster, Addresses: testenv.Addrs(sentinels)}})
	says(t, diagnosed(t, s, store.Looking{}), health.OK, "sentinel", "of 3 sentinels all answer, and could fail over")
	sentinels[2].Kill()
	says(t, diagnosed(t, s, store.Looking{}), health.Warning, "sentinel", "2 of 3 sentinels answer")
	sentinels[1].Kill()
	testenv.Eventually(t, 20*time.Second, "the last one knows that it is alone", func() bool {
		facts, err := s.Examine(t.Context(), store.Looking{})
		return err == nil && facts.Sentinel.NoQuorum != ""
	})
	says(t, diagnosed(t, s, store.Looking{}), health.Hurts, "sentinel", "cannot fail over")
}
