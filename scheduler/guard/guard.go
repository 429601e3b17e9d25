package guard

import (
	"fmt"

	"proxyward/checks/verdict"
)

// Kind is what one result says about the target.
type Kind string

// The kinds of result.
const (
	Passed Kind = "p"
	Target Kind = "t" // the target's blame, or silence, reset or close after the proxy was reached
	Other  Kind = "f" // any other failure
)

// KindOf is the kind of a verdict; empty: it tells nothing, the fault is ours.
func KindOf(v verdict.Verdict) Kind {
	switch {
	case v.Passed:
		return Passed
	case v.Blame == verdict.Local:
		return ""
	case v.Blame == verdict.Target:
		return Target
	case v.Stage != verdict.Resolve && v.Stage != verdict.Connect:
		switch v.Reason {
		case verdict.Timeout, verdict.Reset, verdict.EOF:
			return Target
		}
	}
	return Other
}

// Result is the last result of one endpoint.
type Result struct {
	ID   string
	Host string // the proxy's
	Kind Kind
	AtMs int64 // pool time
}

// Rules say when the guard opens and closes.
type Rules struct {
	Enabled     bool
	TargetShare float64 // opens at this share of Target results
	AllShare    float64 // or at this share of failures whatever the blame
}

// It closes when fewer than closeShare fail, or over a longer run fewer than halfShare:
// proxies that died for good must not keep it open, and with it themselves in the pool.
const (
	closeShare = 0.3
	halfShare  = 0.5
)

const (
	fewest    = 5 // results that a decision needs
	most      = 20
	mostHosts = 3 // from which failures must come, unless there are fewer
)

// Decision is what the guard does.
type Decision int

// The decisions.
const (
	Stay Decision = iota
	Open
	Close
)

// Judge decides from the last results, newest first and one for each endpoint; eligible
// is the size of the eligible set, those among the results who have left it meanwhile
// included. openMs is the pool time since which the guard is open, 0 while it is closed.
// sinceMs is when the failures that opened it began.
func (r Rules) Judge(last []Result, eligible int, openMs int64) (d Decision, why string, sinceMs int64) {
	if openMs > 0 {
		d, why = r.closing(last, eligible, openMs)
		return d, why, 0
	}
	n := max(fewest, min(most, eligible))
	if !r.Enabled || len(last) < n {
		return Stay, "", 0
	}
	t := count(last[:n])
	switch {
	case t.hosts < min(mostHosts, hosts(last)):
		return Stay, "", 0
	case share(t.target, n) >= r.TargetShare:
		return Open, fmt.Sprintf("%d of the last %d results failed by the target or by silence, from %d proxy hosts", t.target, n, t.hosts), t.sinceMs
	case share(t.target+t.other, n) >= r.AllShare:
		return Open, fmt.Sprintf("%d of the last %d results failed, from %d proxy hosts", t.target+t.other, n, t.hosts), t.sinceMs
	}
	return Stay, "", 0
}

// closing looks only at what came after the opening.
func (r Rules) closing(last []Result, eligible int, openMs int64) (Decision, string) {
	if !r.Enabled {
		return Close, "switched off"
	}
	var fresh []Result
	for _, res := range last {
		if res.AtMs > openMs {
			fresh = append(fresh, res)
		}
	}
	n := max(1, min(most, eligible))
	if len(fresh) < n {
		return Stay, ""
	}
	if t := count(fresh[:n]); share(t.target+t.other, n) < closeShare {
		return Close, fmt.Sprintf("%d of the last %d results passed", n-t.target-t.other, n)
	}
	if t, n := count(fresh), len(fresh); n >= 2*most && share(t.target+t.other, n) < halfShare {
		return Close, fmt.Sprintf("%d of the last %d results passed: the target answers, some proxies do not", n-t.target-t.other, n)
	}
	return Stay, ""
}

// tally counts the results that a decision looks at.
type tally struct {
	target, other int
	hosts         int // that failures come from
	sinceMs       int64
}

func count(results []Result) (t tally) {
	failing := map[string]bool{}
	for _, r := range results {
		switch r.Kind {
		case Passed:
			continue
		case Target:
			t.target++
		default:
			t.other++
		}
		failing[r.Host] = true
		if t.sinceMs == 0 || r.AtMs < t.sinceMs {
			t.sinceMs = r.AtMs
		}
	}
	t.hosts = len(failing)
	return t
}

func hosts(results []Result) int {
	all := map[string]bool{}
	for _, r := range results {
		all[r.Host] = true
	}
	return len(all)
}

func share(part, whole int) float64 { return float64(part) / float64(whole) }
