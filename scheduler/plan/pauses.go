package plan

import (
	"slices"
	"sort"
	"time"

	"proxyward/checks/verdict"
	"proxyward/scheduler/policy"
	"proxyward/store/record"
)

// Wait is how long after an outage an endpoint can still be cooling.
type Wait struct {
	Outage time.Duration
	// Longest is the wait of one that was tried again whenever it was due.
	Longest time.Duration
	// Once is the longest wait of one that failed once. The trickle admits so few while an
	// outage lasts that in a large pool it is the wait of nearly all.
	Once   time.Duration
	Trials int // the most that are tried again meanwhile
}

// outages are what an outage of the proxies looks like.
var outages = []verdict.Verdict{
	verdict.Make(verdict.Connect, "refused", ""),
	verdict.Make(verdict.Connect, "timeout", ""),
	verdict.Make(verdict.Tunnel, "timeout", ""),
}

// wait follows the machine's own pauses through an outage.
func (s Settings) wait(outage time.Duration) Wait {
	w := Wait{Outage: outage, Trials: s.PerTick * (1 + int(outage/s.Window))}
	for _, v := range outages {
		_, once := s.pause(v, 1)
		w.Once = max(w.Once, once)
		for n, began := 1, time.Duration(0); began <= outage; n++ {
			short, long := s.pause(v, n)
			w.Longest = max(w.Longest, long)
			began += max(short, s.Policy.Tick)
		}
	}
	return w
}

// pause is how long the nth failure of a class cools, at least and at most; 0 where it
// disables.
func (s Settings) pause(v verdict.Verdict, n int) (least, most time.Duration) {
	rec := record.Record{State: record.Cooling}
	if n > 1 {
		rec.Classes = map[string]record.Count{v.Class(): {N: n - 1}}
	}
	var pauses [2]time.Duration // at both ends of the jitter
	for dice := range pauses {
		t, err := policy.Next(rec, policy.Result{Verdict: v, Dice: float64(dice)}, s.Policy)
		if err != nil || t.To != record.Cooling {
			return 0, 0
		}
		pauses[dice] = time.Duration(t.Next.PauseMs) * time.Millisecond
	}
	return min(pauses[0], pauses[1]), max(pauses[0], pauses[1])
}

// shortest is the least that one who failed once pauses.
func (s Settings) shortest() time.Duration {
	least := forever
	for _, v := range outages {
		if short, _ := s.pause(v, 1); short > 0 {
			least = min(least, short)
		}
	}
	return max(least, s.Policy.Tick)
}

// disables is after how many failures of an outage an endpoint is withdrawn; 0: never.
func (s Settings) disables() int {
	first := sort.Search(mostFailures, func(n int) bool {
		return slices.ContainsFunc(outages, func(v verdict.Verdict) bool {
			_, most := s.pause(v, n+1)
			return most == 0
		})
	})
	if first == mostFailures {
		return 0
	}
	return first + 1
}

// mostFailures is the highest disable_after there is.
const mostFailures = 1_000_000
