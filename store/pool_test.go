package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// pool is a fresh pool on the Redis at url, with its invariants checked at the end.
func pool(t *testing.T, url string) *store.Pool {
	t.Helper()
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Pool("c")
	t.Cleanup(func() { s.Close() })
	t.Cleanup(func() { sound(t, p) })
	return p
}

// sound fails the test when an invariant is broken.
func sound(t *testing.T, p *store.Pool) {
	t.Helper()
	r, err := p.Fsck(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Violations {
		t.Errorf("%s %s: %s", v.Invariant, v.Endpoint, v.What)
	}
}

func id(i int) string { return fmt.Sprintf("http://10.0.0.1:%d", 1000+i) }

func enroll(t *testing.T, p *store.Pool, n int) {
	t.Helper()
	now, err := p.Time(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var changes []store.Change
	for i := range n {
		tr, err := policy.Enroll(policy.Listed{Source: "file:l"}, policy.At{Ms: now, By: record.BySource})
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, store.Change{ID: id(i), Transition: tr})
	}
	codes, err := p.Amend(t.Context(), changes)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range codes {
		if c != store.Applied {
			t.Fatalf("enroll %d: code %d", i, c)
		}
	}
}

func request(slots int) store.Claim {
	return store.Claim{Daemon: "d", Slots: slots, Lease: 20 * time.Second, PerTick: 5, Window: time.Second, Rate: 1000, Alive: 5 * time.Second}
}

func claim(t *testing.T, p *store.Pool, c store.Claim) store.Grant {
	t.Helper()
	g, err := p.Claim(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range g.Broken {
		t.Fatal(b)
	}
	return g
}

func TestAFirstProbeThatPassesMakesItsEndpointEligible(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p := pool(t, url)
		enroll(t, p, 3)
		sound(t, p)
		g := claim(t, p, request(10))
		if len(g.Leases) != 3 || g.Leases[0].Lane != record.CandidateQueue || g.Size != 3 || g.Daemons != 1 {
			t.Fatalf("grant %+v", g)
		}
		sound(t, p)
		for _, l := range g.Leases {
			next := l.Record.Clone()
			next.State = record.Eligible
			codes, err := p.Commit(t.Context(), 20*time.Second, store.Scores{Initial: -1, Keep: true}, []store.Change{{ID: l.ID, Token: l.Token, Old: l.Raw,
				Transition: record.Transition{From: record.Candidate, To: record.Eligible, Next: next, DueMs: g.Now + 1000, DelayMs: 1000}}})
			if err != nil || codes[0] != store.Applied {
				t.Fatal(codes, err)
			}
		}
		got, url, ok, err := p.Allocate(t.Context())
		if err != nil || !ok || got != url {
			t.Fatal(got, url, ok, err)
		}
	})
}
