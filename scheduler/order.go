package scheduler

import (
	"sync"

	"proxyward/scheduler/guard"
	"proxyward/store"
	"proxyward/store/record"
)

// order hands results of eligible endpoints to the guard in the order in which they were
// claimed. In the order in which they come, quick failures would run ahead of all passes:
// a few refused connections would look like an outage.
type order struct {
	mu    sync.Mutex
	queue []*awaited
}

// awaited is one claimed probe of an eligible endpoint.
type awaited struct {
	token string
	done  bool
	seen  store.Seen // Kind empty: it tells nothing
}

func (o *order) claimed(leases []store.Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range leases {
		if l.Record.State == record.Eligible {
			o.queue = append(o.queue, &awaited{token: l.Token})
		}
	}
}

// came notes how a probe ended, once; kind empty: it tells nothing.
func (o *order) came(l store.Lease, kind guard.Kind, atMs int64) {
	if l.Record.State != record.Eligible {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.queue {
		if a.token == l.Token && !a.done {
			a.done, a.seen = true, store.Seen{ID: l.ID, Kind: string(kind), AtMs: atMs}
			return
		}
	}
}

// take gives what no earlier claimed probe is waited for, oldest first.
func (o *order) take() (seen []store.Seen) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for ; n < len(o.queue) && o.queue[n].done; n++ {
		if s := o.queue[n].seen; s.Kind != "" {
			seen = append(seen, s)
		}
	}
	o.queue = o.queue[n:]
	return seen
}
