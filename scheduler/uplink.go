package scheduler

import (
	"sync"

	"proxyward/checks/verdict"
)

const (
	uplinkRun   = 15 // probes in a row that reached no proxy, of eligible endpoints
	uplinkHosts = 3  // from at least so many hosts
	uplinkTries = 3  // probes at once while it is down
)

// uplink notices when this daemon alone reaches no proxy any more: its own network, its
// resolver or its firewall fails. A daemon that is alone leaves it to the guard, which sees
// the same results.
type uplink struct {
	mu    sync.Mutex
	down  bool
	ids   []string // of the run, in order
	hosts map[string]bool
	since int64 // pool time of the first of the run, ms
}

// unreached: the probe ended before it had reached its proxy, by nobody's refusal.
func unreached(v verdict.Verdict) bool {
	if v.Passed || v.Stage != verdict.Resolve && v.Stage != verdict.Connect {
		return false
	}
	switch v.Reason {
	case verdict.Timeout, verdict.Unreachable, verdict.ResolverError:
		return true
	}
	return false
}

// heard takes note of a result at pool time atMs. Of endpoints that were not eligible only
// a proxy that was reached counts. local: it is our own fault. went: this result made it
// go down or come back; then ids are those of the run since pool time sinceMs.
func (u *uplink) heard(id, host string, v verdict.Verdict, eligible, alone bool, atMs int64) (local, went bool, ids []string, sinceMs int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if v.Blame == verdict.Local { // known to be our fault already
		return false, false, nil, 0
	}
	if !unreached(v) {
		went = u.down
		u.down, u.ids, u.hosts = false, nil, nil
		return false, went, nil, 0
	}
	if u.down || !eligible || alone {
		return u.down, false, nil, 0
	}
	if u.hosts == nil {
		u.hosts, u.since = map[string]bool{}, atMs
	}
	u.ids, u.hosts[host] = append(u.ids, id), true
	if len(u.ids) < uplinkRun || len(u.hosts) < uplinkHosts {
		return false, false, nil, 0
	}
	u.down = true
	ids, u.ids = u.ids, nil
	return true, true, ids, u.since
}

// isDown reports whether it is.
func (u *uplink) isDown() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.down
}
