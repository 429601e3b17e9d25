package cli

import (
	"context"
	"sync"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
	"proxyward/prober"
	"proxyward/scheduler"
)

// result is one probe's outcome.
type result struct {
	endpoint endpoint.Endpoint
	verdict  verdict.Verdict
	trace    []checks.Trace
}

// probeAll probes the list, so many at once and so many to one host, and hands each result
// to the report on one goroutine. When ctx ends, what was cut short is not reported.
func probeAll(ctx context.Context, c scheduler.Check, list []endpoint.Endpoint, concurrency int, r *probeReport) {
	p := prober.New(concurrency)
	heart, stop := context.WithCancel(context.Background())
	var beats sync.WaitGroup
	beats.Go(func() { p.Heart(heart) })
	defer beats.Wait()
	defer stop()

	q := newQueue(list, c.Limits.PerHost)
	results := make(chan result)
	go func() {
		defer close(results)
		var probes sync.WaitGroup
		defer probes.Wait()
		for {
			e, more := q.wait(ctx)
			if !more || p.Acquire(ctx) != nil {
				return
			}
			probes.Go(func() {
				one := probeOne(ctx, p, c.Transaction, e, r.verbose || r.whole)
				q.leave(e)
				p.Release(1)
				if ctx.Err() == nil {
					results <- one
				}
			})
		}
	}()
	for one := range results {
		r.add(one)
	}
}

func probeOne(ctx context.Context, p *prober.Prober, c *checks.Check, e endpoint.Endpoint, traced bool) result {
	one := result{endpoint: e}
	var o checks.RunOptions
	if traced {
		o.Trace = func(t checks.Trace) { one.trace = append(one.trace, t) }
	}
	one.verdict = p.Probe(ctx, c, e, o)
	return one
}
