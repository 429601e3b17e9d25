package store_test

import (
	"context"
	"testing"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

// full is a pool of 100,000 on a real server, half of it eligible, all due.
func full(b *testing.B) *store.Pool {
	p := real(b).store(b).Pool(check)
	for i := 0; i < 100_000; i += 1000 {
		plant(b, p, []record.State{record.Eligible, record.Candidate, record.Eligible, record.Cooling}[i/1000%4], 1, ids(i, i+1000)...)
	}
	return p
}

// BenchmarkClaimAndCommit is one daemon's turn of 200 probes: a claim and a commit.
func BenchmarkClaimAndCommit(b *testing.B) {
	p := full(b)
	r := request(200)
	r.Rate, r.PerTick, r.Lease = 1e9, 1e6, time.Hour
	var claims, commits time.Duration
	n := 0
	for b.Loop() {
		begin := time.Now()
		g := claim(b, p, r)
		claims += time.Since(begin)
		var changes []store.Change
		for i, l := range g.Leases {
			changes = append(changes, move(l, []record.State{record.Eligible, record.Cooling}[i%2], g.Now, time.Millisecond))
		}
		begin = time.Now()
		applied(b)(commit(b, p, changes...), nil)
		commits += time.Since(begin)
		n += len(changes)
	}
	b.ReportMetric(float64(claims.Microseconds())/float64(b.N), "µs/claim")
	b.ReportMetric(float64(commits.Microseconds())/float64(b.N), "µs/commit")
	b.ReportMetric(float64(n)/float64(b.N), "endpoints")
}

func BenchmarkIdleClaim(b *testing.B) {
	p := full(b)
	r := request(0)
	for b.Loop() {
		claim(b, p, r)
	}
}

func BenchmarkAllocate(b *testing.B) {
	p := full(b)
	for b.Loop() {
		if _, _, ok, err := p.Allocate(context.Background()); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkFsck(b *testing.B) {
	p := full(b)
	for b.Loop() {
		if r, err := p.Fsck(context.Background()); err != nil || len(r.Violations) > 0 {
			b.Fatal(r, err)
		}
	}
}
