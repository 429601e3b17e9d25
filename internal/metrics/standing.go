package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"proxyward/store"
	"proxyward/store/record"
)

// Standing is how a pool stands.
type Standing struct {
	store.Status
	Reports  map[string]int64 // by outcome
	Repaired map[string]int64 // by invariant
}

// Daemon is what is asked of the daemon itself.
type Daemon interface {
	Names() []string               // the checks it serves
	Lag() map[string]time.Duration // how late the last completed tick is, by check
	Panics() int64
}

// standing reads the pools when it is asked, at most once in fresh.
type standing struct {
	read   Reader
	daemon Daemon

	mu    sync.Mutex
	at    time.Time
	pools map[string]Standing
	up    bool
}

const (
	fresh    = time.Second
	readTime = 5 * time.Second
)

// Describe sends nothing: which checks there are changes with the configuration.
func (s *standing) Describe(chan<- *prometheus.Desc) {}

// Collect sends how the pools stand. While Redis is away it sends what the process knows.
func (s *standing) Collect(to chan<- prometheus.Metric) {
	pools, up := s.look()
	send := func(f family, v float64, labels ...string) {
		kind := prometheus.GaugeValue
		if f.kind == "counter" {
			kind = prometheus.CounterValue
		}
		for i := range labels { // what others wrote into Redis may be one
			labels[i] = valid(labels[i])
		}
		to <- prometheus.MustNewConstMetric(f.desc(), kind, v, labels...)
	}
	send(redisUp, number(up))
	send(panics, float64(s.daemon.Panics()))
	for check, late := range s.daemon.Lag() {
		send(tickLag, late.Seconds(), check)
	}
	for check, p := range pools {
		sendPool(send, check, p)
	}
}

func sendPool(send func(f family, v float64, labels ...string), check string, p Standing) {
	for _, state := range record.States {
		send(endpoints, float64(p.States[state]), check, string(state))
	}
	for _, lane := range record.Lanes {
		q := p.Lanes[lane]
		send(laneWaiting, float64(q.Waiting), check, string(lane))
		send(laneDue, float64(q.Due), check, string(lane))
		if lane != record.Urgent {
			late := 0.0
			if q.Due > 0 && q.NextMs > 0 {
				late = float64(p.Now-q.NextMs) / 1000
			}
			send(laneOldest, late, check, string(lane))
		}
	}
	send(leases, float64(p.Leases), check)
	send(liveJobs, float64(p.Jobs), check)
	send(trickle, float64(p.Trickle), check)
	send(admitted, float64(p.Admitted), check)
	send(guardOpen, number(p.Guard.OpenMs > 0), check)
	send(guardSince, float64(p.Guard.OpenMs)/1000, check)
	send(guardOpened, float64(p.Guard.Opened), check)
	send(daemons, float64(len(p.Daemons)), check)
	send(lastCommit, float64(p.LastCommitMs)/1000, check)
	for outcome, n := range p.Reports {
		send(reports, float64(n), check, outcome)
	}
	for invariant, n := range p.Repaired {
		send(repaired, float64(n), check, invariant)
	}
}

func (s *standing) look() (map[string]Standing, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.at.IsZero() && time.Since(s.at) < fresh {
		return s.pools, s.up
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	pools := map[string]Standing{}
	s.up = true
	for _, check := range s.daemon.Names() {
		p, err := s.read(ctx, check)
		if err != nil {
			s.up = false
			continue
		}
		pools[check] = p
	}
	s.pools, s.at = pools, time.Now()
	return pools, s.up
}
