package demo

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"proxyward/store"
)

// worker does what workers of a real pool do: take the least-allocated proxy, make one
// request through it.
type worker struct {
	pool       *store.Pool
	target     string // URL
	asked, got atomic.Int64
}

const (
	workEvery   = 150 * time.Millisecond
	workTimeout = 2 * time.Second
)

// work goes on until ctx ends.
func (w *worker) work(ctx context.Context) {
	tick := time.NewTicker(workEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.once(ctx)
		}
	}
}

func (w *worker) once(ctx context.Context) {
	_, proxy, ok, err := w.pool.Allocate(ctx)
	if err != nil || !ok {
		return // an empty pool: no request
	}
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	if u, err := url.Parse(proxy); err == nil {
		right := fetch(ctx, u, w.target)
		if right || ctx.Err() == nil || context.Cause(ctx) == context.DeadlineExceeded {
			w.asked.Add(1)
		}
		if right {
			w.got.Add(1)
		}
	}
}

// fetch reports whether the page came.
func fetch(ctx context.Context, proxy *url.URL, target string) bool {
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return false
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	return err == nil && answer.StatusCode == http.StatusOK && string(body) == page
}
