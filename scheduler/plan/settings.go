package plan

import (
	"math"
	"time"

	"proxyward/scheduler/policy"
)

// Settings are what a plan of one check follows from. Every field is over 0 unless it says
// what 0 means.
type Settings struct {
	Endpoints int     // in the pool
	Largest   int     // of them at the proxy host that has most; 0: every endpoint has a host of its own
	IDBytes   float64 // of an endpoint's id on average; 0: not known
	Passwords float64 // share of the endpoints that have one, 0 to 1
	Jobs      bool    // live jobs of workers are counted

	Policy policy.Policy // Tick filled in; Spread is reckoned here

	PerTick, MaxPerTick int           // the trickle of the fleet in a window, and how far it may grow
	Window              time.Duration // of the trickle
	Rate                float64       // probes per second of the fleet
	Concurrency         int           // limits.concurrency: probes in flight of one daemon
	Prober              int           // prober.concurrency: the same over all checks
	Share               int           // of these, what this check is sure of while the others are busy
	PerHost             int           // probes in flight of one daemon to one proxy host
	Daemons             int
	Floor               int // how many stay eligible whatever happens

	Timeout      time.Duration // the longest a probe can take
	Latency      time.Duration // what a probe that passes takes; Timeout at most
	Requests     int           // a probe makes of the target
	MostRequests int           // with the redirects it may follow
}

// Delays of the daemon that no setting changes.
const (
	flush = 200 * time.Millisecond // a result waits for others to be committed with
	fair  = 0.1                    // of the grants: what a lane with due work gets at least
)

// Bound is what limits the probes per second.
type Bound string

// The bounds, by the setting to change.
const (
	ByWork        Bound = "work"               // there is no more to do
	ByRate        Bound = "limits.rate"        // the fleet's budget
	ByConcurrency Bound = "limits.concurrency" // slots for probes in flight
	ByProber      Bound = "prober.concurrency" // the same, shared with other checks
	ByHost        Bound = "limits.per_host"    // too many endpoints behind one host
	ByTick        Bound = "scheduler.tick"     // a slow rate that claims only at ticks
)

// slots are the probes that may be in flight in the whole fleet, and what bounds them.
func (s Settings) slots() (float64, Bound) {
	if s.Share < s.Concurrency {
		return float64(s.Daemons * s.Share), ByProber
	}
	return float64(s.Daemons * s.Concurrency), ByConcurrency
}

// capacity is how many probes per second the fleet can make when each takes so long: by
// Little's law, slots / hold, within the rate.
func (s Settings) capacity(hold time.Duration) (float64, Bound) {
	most, by := s.Rate, ByRate
	lower := func(f float64, b Bound) {
		if f < most {
			most, by = f, b
		}
	}
	slots, which := s.slots()
	lower(slots/hold.Seconds(), which)
	lower(s.hostSlots()/hold.Seconds(), ByHost)
	lower(s.tickRate(), ByTick)
	return most, by
}

// hostSlots are the probes in flight at which the largest host has all that it may have. A
// host with fewer endpoints than that never gets there.
func (s Settings) hostSlots() float64 {
	most := s.Daemons * s.PerHost
	if s.Largest <= most {
		return math.Inf(1)
	}
	return float64(most) * float64(s.Endpoints) / float64(s.Largest)
}

// tickRate bounds a rate so low that the bucket, which holds one second's worth and at
// least one probe, is empty again when results are committed: then nobody claims before the
// next tick.
func (s Settings) tickRate() float64 {
	if s.Rate*(s.Latency+flush).Seconds() >= 1 {
		return math.Inf(1)
	}
	return float64(s.Daemons) * math.Floor(max(s.Rate, 1)) / s.Policy.Tick.Seconds()
}

// due is how many rechecks per second fall due with n endpoints eligible.
func (s Settings) due(n int) float64 { return float64(n) / s.Policy.Recheck.Seconds() }

// spread is the width over which rechecks are scattered around their interval.
func (s Settings) spread() time.Duration {
	return min(s.Policy.Recheck, seconds(float64(s.Endpoints)/s.Rate))
}

// forever stands for all that is longer.
const forever = 100 * 365 * 24 * time.Hour

// seconds is a duration, at most forever.
func seconds(f float64) time.Duration {
	if !(f < forever.Seconds()) { // NaN too
		return forever
	}
	return time.Duration(math.Round(f*1e6)) * time.Microsecond
}
