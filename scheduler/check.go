package scheduler

import (
	"time"

	"proxyward/checks"
	"proxyward/scheduler/guard"
	"proxyward/scheduler/policy"
)

// Check is one check as the daemon runs it: the transaction, the policy, the sources and
// the bounds. One check governs one pool.
type Check struct {
	Name        string // [a-z0-9][a-z0-9_-]{0,62}
	Transaction *checks.Check
	Timeout     time.Duration // the longest a probe can take
	Made        any           // what the check was made of: of deeply equal values the same check is made; nil: not known
	Fingerprint string        // tells two configurations of the check apart; no secret went into it
	Policy      policy.Policy // Spread and Tick are filled in by the scheduler
	Trickle     Trickle
	Limits      Limits
	Scores      Scores
	Sources     []Source
	Missing     Missing
	Control     bool // the target may be asked directly, to tell its faults from a proxy's
	Guard       guard.Rules
	Floor       Floor
	Reports     Reports
	Jobs        bool // live jobs are counted, and abandoned ones ended
}

// Farthest is how long an endpoint can have to wait for a probe, with a wide margin.
func (c Check) Farthest() time.Duration {
	d := max(c.Policy.Confirm, time.Duration(float64(c.Policy.Recheck)*max(1, c.Reports.Stretch)), c.Policy.Cooldown.Base, c.Policy.Cooldown.Max)
	for _, rule := range c.Policy.Cooldown.Reasons {
		d = max(d, rule.Base, rule.Max)
	}
	return 2*d + 24*time.Hour
}

// Trickle bounds how many endpoints the whole fleet admits to a trial per window.
type Trickle struct {
	PerTick, MaxPerTick int
	Window              time.Duration
}

// Limits bound the load a check makes.
type Limits struct {
	Rate        float64 // probes per second of the whole fleet
	Concurrency int     // probes in flight of this daemon
	PerHost     int     // probes in flight of this daemon to one proxy host
}

// Scores say where a member enters the eligible set.
type Scores struct {
	Initial int64 // a new member's score; negative: the lowest in the pool
	Keep    bool  // a returning one keeps its own count where that is higher than the lowest
}

// Floor is how many stay eligible whatever happens; at most one field is set, none: off.
type Floor struct {
	Count int
	Share float64 // of all endpoints, 0 to 1
}

// Source is where endpoints are listed.
type Source struct {
	File         string // absolute or relative to the working directory
	URL          string // http or https; exactly one of File and URL is set
	Scheme       string // of lines that name none
	Refresh      string // cron expression
	AllowPrivate bool
}

// Missing says what happens to endpoints that leave a source.
type Missing struct {
	Keep        bool          // on_missing: keep
	MaxShrink   float64       // a refresh that loses more than this fraction retires nobody
	ForgetAfter time.Duration // a retired endpoint is forgotten after this long; 0: never
}

// Reports say what workers' reports do.
type Reports struct {
	SuspectAfter    int           // bad ones that have an endpoint probed soon; 0: reports are not read
	Within          time.Duration // the time in which they must come
	DistinctWorkers int           // how many workers must agree
	Stretch         float64       // good ones put a recheck off, up to this many times the interval after the last probe; 1: never
}
