package scheduler

import (
	"fmt"
	"testing"

	"proxyward/checks/verdict"
)

var (
	passing  = verdict.Verdict{Passed: true}
	timedOut = verdict.Verdict{Stage: verdict.Connect, Reason: verdict.Timeout, Blame: verdict.Proxy}
	unnamed  = verdict.Verdict{Stage: verdict.Resolve, Reason: verdict.ResolverError, Blame: verdict.Proxy}
	refusing = verdict.Verdict{Stage: verdict.Connect, Reason: verdict.Refused, Blame: verdict.Proxy}
	mute     = verdict.Verdict{Stage: verdict.Headers, Reason: verdict.Timeout, Blame: verdict.Unknown}
	ours     = verdict.Verdict{Stage: verdict.Connect, Reason: verdict.LocalError, Blame: verdict.Local}
)

// hear tells n results from endpoints on as many hosts, and says how many were our fault.
func hear(u *uplink, v verdict.Verdict, n, hosts int, eligible, alone bool) (local int, wents int, ids []string) {
	for i := range n {
		l, went, run, _ := u.heard(fmt.Sprint("id", i), fmt.Sprint("host", i%hosts), v, eligible, alone, int64(100+i))
		if l {
			local++
		}
		if went {
			wents++
			ids = append(ids, run...)
		}
	}
	return local, wents, ids
}

func TestADaemonThatIsCutOffNotices(t *testing.T) {
	for _, c := range []struct {
		what            string
		v               verdict.Verdict
		n, hosts        int
		eligible, alone bool
		local           int
	}{
		{"timeouts in a row", timedOut, 20, 20, true, false, 20 - uplinkRun + 1},
		{"its resolver fails", unnamed, 20, 20, true, false, 20 - uplinkRun + 1},
		{"one too few", timedOut, uplinkRun - 1, 20, true, false, 0},
		{"of two hosts only", timedOut, 40, 2, true, false, 0},
		{"of endpoints that never worked", timedOut, 40, 20, false, false, 0},
		{"alone: the guard sees the same", timedOut, 40, 20, true, true, 0},
		{"refused: somebody answered", refusing, 40, 20, true, false, 0},
		{"silence behind the proxy", mute, 40, 20, true, false, 0},
		{"already known as our fault", ours, 40, 20, true, false, 0},
	} {
		var u uplink
		if local, _, _ := hear(&u, c.v, c.n, c.hosts, c.eligible, c.alone); local != c.local || u.isDown() != (c.local > 0) {
			t.Errorf("%s: %d taken for our fault, want %d", c.what, local, c.local)
		}
	}
}

func TestOneProxyReachedIsEnough(t *testing.T) {
	for what, v := range map[string]verdict.Verdict{"passes": passing, "refuses": refusing, "is silent later": mute} {
		var u uplink
		hear(&u, timedOut, uplinkRun-1, 20, true, false)
		if _, wents, _ := hear(&u, v, 1, 1, true, false); wents != 0 {
			t.Errorf("%s: it came back though it never went", what)
		}
		if local, _, _ := hear(&u, timedOut, 1, 1, true, false); local != 0 {
			t.Errorf("%s: the run went on", what)
		}
		hear(&u, timedOut, uplinkRun, 20, true, false)
		if _, wents, _ := hear(&u, v, 1, 1, false, false); wents != 1 || u.isDown() {
			t.Errorf("%s: it is still down", what)
		}
	}
}

// While it is down whatever reaches no proxy is our fault, and the run is named once.
func TestWhatTheRunEjectedIsNamed(t *testing.T) {
	var u uplink
	_, wents, ids := hear(&u, timedOut, uplinkRun, 20, true, false)
	if wents != 1 || len(ids) != uplinkRun || ids[0] != "id0" {
		t.Errorf("%d times, %v", wents, ids)
	}
	local, wents, ids := hear(&u, timedOut, 3, 3, false, false)
	if local != 3 || wents != 0 || len(ids) != 0 {
		t.Errorf("later: %d local, %d times, %v", local, wents, ids)
	}
	if u.since != 100 {
		t.Errorf("since %d", u.since)
	}
}
