package store_test

import (
	"testing"
	"time"

	"proxyward/store/record"
)

func TestTheConfigurationLoadedLaterCounts(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, ids(0, 9)...)
		works := func(daemon, fingerprint string, loaded bool) bool {
			t.Helper()
			r := request(1)
			r.Daemon, r.Fingerprint, r.Loaded = daemon, fingerprint, loaded
			g := claim(t, p, r)
			if (g.Daemons == 0) != (len(g.Leases) == 0) {
				t.Fatalf("%d daemons, %d leases", g.Daemons, len(g.Leases))
			}
			return g.Daemons > 0
		}
		for i, step := range []struct {
			daemon, fingerprint string
			loaded, works       bool
		}{
			{"old", "1", true, true},
			{"new", "2", true, true},
			{"old", "1", false, false},
			{"old", "1", false, false},
			{"new", "2", false, true},
			{"unnamed", "", true, true},
			{"old", "1", true, true}, // loaded anew: now it is the later one
			{"new", "2", false, false},
		} {
			if got := works(step.daemon, step.fingerprint, step.loaded); got != step.works {
				t.Fatalf("step %d, %s: works %v", i, step.daemon, got)
			}
		}
		at.later(t, time.Minute) // "old" falls silent, and "unnamed" too
		if !works("new", "2", false) {
			t.Error("nobody works though the one that counts is dead")
		}
	})
}
