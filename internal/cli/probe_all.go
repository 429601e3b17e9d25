package cli

import (
	"context"
	"sync"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
	"proxyward/prober"
)

// result is one probe's outcome.
type result struct {
	endpoint endpoint.Endpoint
	verdict  verdict.Verdict
	trace    []checks.Trace
}

// probeAll probes the list, so many at once, and hands each result to the report on one
// goroutine. When ctx ends, what was cut short is not reported.
func probeAll(ctx context.Context, c *checks.Check, list []endpoint.Endpoint, concurrency int, r *probeReport) {
	p := prober.New(concurrency)
	heart, stop := context.WithCancel(context.Background())
	var beats sync.WaitGroup
	beats.Go(func() { p.Heart(heart) })
	defer beats.Wait()
	defer stop()

	work, results := make(chan endpoint.Endpoint), make(chan result)
	var probers sync.WaitGroup
	for range min(concurrency, len(list)) {
		probers.Go(func() {
			for e := range work {
				if one := probeOne(ctx, p, c, e, r.verbose); ctx.Err() == nil {
					results <- one
				}
			}
		})
	}
	go func() {
		defer close(results)
		defer probers.Wait()
		defer close(work)
		for _, e := range list {
			select {
			case work <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	for one := range results {
		r.add(one)
	}
}

func probeOne(ctx context.Context, p *prober.Prober, c *checks.Check, e endpoint.Endpoint, verbose bool) result {
	one := result{endpoint: e}
	var o checks.RunOptions
	if verbose {
		o.Trace = func(t checks.Trace) { one.trace = append(one.trace, t) }
	}
	one.verdict = p.Probe(ctx, c, e, o)
	return one
}
