package prober

import (
	"sync"

	"proxyward/checks/endpoint"
)

// Gate bounds the probes in flight to one proxy host, and never lets two run at once with
// different passwords for one user of one host: proxies that look logins up in the
// background answer the one with the other's result.
type Gate struct {
	mu     sync.Mutex
	hosts  map[string]int
	logins map[login]use
}

type login struct{ host, user string }

type use struct {
	password string
	n        int
}

// NewGate makes a gate with nothing in flight.
func NewGate() *Gate { return &Gate{hosts: map[string]int{}, logins: map[login]use{}} }

// Enter lets e pass if fewer than perHost probes are in flight to its host and none of
// them with another password for its user. The caller that got true must call Leave.
func (g *Gate) Enter(e endpoint.Endpoint, perHost int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := login{e.Host, e.User}
	u := g.logins[key]
	if g.hosts[e.Host] >= perHost || e.HasCredentials() && u.n > 0 && u.password != e.Password() {
		return false
	}
	g.hosts[e.Host]++
	if e.HasCredentials() {
		g.logins[key] = use{e.Password(), u.n + 1}
	}
	return true
}

// Leave ends what Enter allowed.
func (g *Gate) Leave(e endpoint.Endpoint) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hosts[e.Host]--; g.hosts[e.Host] == 0 {
		delete(g.hosts, e.Host)
	}
	key := login{e.Host, e.User}
	if u := g.logins[key]; u.n > 1 {
		g.logins[key] = use{u.password, u.n - 1}
	} else if e.HasCredentials() {
		delete(g.logins, key)
	}
}
