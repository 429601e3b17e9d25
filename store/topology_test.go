package store_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

// outage is how long a pool's claims fail once act has been done.
func outage(t *testing.T, p *store.Pool, act func()) time.Duration {
	t.Helper()
	act()
	began := time.Now()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := p.Claim(ctx, request(0))
		cancel()
		if err == nil {
			return time.Since(began)
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("still out after %v: %v", time.Since(began), err)
		}
	}
}

// works goes once through what a daemon does.
func works(t *testing.T, p *store.Pool) {
	t.Helper()
	testenv.Eventually(t, 20*time.Second, "claims and commits an endpoint", func() bool {
		g, err := p.Claim(t.Context(), request(5))
		if err != nil {
			return false
		}
		for _, l := range g.Leases {
			codes, err := p.Commit(t.Context(), store.Terms{Lease: 20 * time.Second, Scores: store.Scores{Initial: -1}}, []store.Change{move(l, record.Eligible, g.Now, 100*time.Millisecond)})
			if err == nil && codes[0] == store.Applied {
				return true
			}
		}
		return false
	})
}

func TestAClusterFailsOverWithinSeconds(t *testing.T) {
	t.Parallel()
	nodes := testenv.Cluster(t)
	s, err := store.Open(store.Address{Cluster: testenv.Addrs(nodes[3:])})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	pools := []*store.Pool{s.Pool("a"), s.Pool("b"), s.Pool("c"), s.Pool("d"), s.Pool("e")}
	for _, p := range pools { // spread over the masters by their hash tags
		plant(t, p, record.Candidate, now(t, p), ids(0, 10)...)
		works(t, p)
		sound(t, p)
	}
	names, err := s.Checks(t.Context())
	if err != nil || !slices.Equal(names, []string{"a", "b", "c", "d", "e"}) {
		t.Fatal(names, err)
	}
	nodes[0].Kill()
	for _, p := range pools {
		if out := outage(t, p, func() {}); out > 10*time.Second {
			t.Errorf("pool %s was out for %v", p.Name(), out)
		}
		works(t, p)
		sound(t, p)
	}
}

func TestSentinelsFailOver(t *testing.T) {
	t.Parallel()
	servers, sentinels := testenv.Sentinels(t)
	s, err := store.Open(store.Address{Sentinel: store.Sentinel{Master: testenv.SentinelMaster, Addresses: testenv.Addrs(sentinels)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	p := s.Pool("c")
	plant(t, p, record.Candidate, now(t, p), ids(0, 10)...)
	works(t, p)
	sound(t, p)
	if out := outage(t, p, servers[0].Kill); out > 15*time.Second {
		t.Errorf("out for %v", out)
	}
	works(t, p)
	sound(t, p)
}

func TestAddressesThatCannotBe(t *testing.T) {
	for want, a := range map[string]store.Address{
		"CA file needs":  {Cluster: []string{"127.0.0.1:1"}, CAFile: "x"},
		"braces":         {URL: "redis://127.0.0.1:1", Prefix: "a{b}"},
		"read CA file":   {Cluster: []string{"127.0.0.1:1"}, TLS: true, CAFile: "/nonexistent"},
		"bad URL: write": {URL: "http://127.0.0.1:1"},
	} {
		if _, err := store.Open(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
