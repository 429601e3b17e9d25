package cli

import (
	"context"
	"slices"
	"sync"

	"proxyward/checks/endpoint"
	"proxyward/prober"
)

// queue gives out the endpoints of a list in order, but passes over those whose host has
// enough probes in flight: they wait until one of these has left.
type queue struct {
	gate    *prober.Gate
	perHost int
	left    chan struct{} // holds a token when somebody has left since it was last looked at

	mu     sync.Mutex
	rest   []endpoint.Endpoint
	parked map[string][]endpoint.Endpoint // by host; whoever is parked has somebody of the host in flight
	open   []string                       // hosts that have parked endpoints and may have room
}

func newQueue(list []endpoint.Endpoint, perHost int) *queue {
	return &queue{gate: prober.NewGate(), perHost: max(perHost, 1), left: make(chan struct{}, 1), rest: list, parked: map[string][]endpoint.Endpoint{}}
}

// wait gives the next endpoint as soon as one may be probed; more is false where none is
// left, or ctx ends.
func (q *queue) wait(ctx context.Context) (e endpoint.Endpoint, more bool) {
	for {
		e, ok, more := q.next()
		if ok || !more {
			return e, ok
		}
		select {
		case <-ctx.Done():
			return e, false
		case <-q.left:
		}
	}
}

// next is an endpoint that may be probed now; the caller must tell leave when it is done.
// ok is false where none may, more is false where none is left at all.
func (q *queue) next() (e endpoint.Endpoint, ok, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.open) > 0 {
		if e, ok := q.unpark(q.open[0]); ok {
			return e, true, true
		}
		q.open = q.open[1:]
	}
	for len(q.rest) > 0 {
		e, q.rest = q.rest[0], q.rest[1:]
		if q.gate.Enter(e, q.perHost) {
			return e, true, true
		}
		q.parked[e.Host] = append(q.parked[e.Host], e)
	}
	return e, false, len(q.parked) > 0
}

// unpark is the first endpoint of the host that may enter. The caller holds mu.
func (q *queue) unpark(host string) (endpoint.Endpoint, bool) {
	for i, e := range q.parked[host] {
		if !q.gate.Enter(e, q.perHost) {
			continue
		}
		if q.parked[host] = slices.Delete(q.parked[host], i, i+1); len(q.parked[host]) == 0 {
			delete(q.parked, host)
		}
		return e, true
	}
	return endpoint.Endpoint{}, false
}

// leave ends what next allowed.
func (q *queue) leave(e endpoint.Endpoint) {
	q.gate.Leave(e)
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.parked[e.Host]) > 0 && !slices.Contains(q.open, e.Host) {
		q.open = append(q.open, e.Host)
	}
	select {
	case q.left <- struct{}{}:
	default:
	}
}
