package plan

import "time"

// Notice is how long it takes until an endpoint that died is out of the set.
type Notice struct {
	Mean    time.Duration // it fails at once, having died at any moment of the interval
	Longest time.Duration // it died right after a probe, and hangs until the timeout
	Bound   Bound         // ByWork: rechecks are in time; else what holds them up

	// Recovering is Longest while all of a pool comes back and is served first.
	Recovering time.Duration
	// Silent is Longest when all of the pool hangs at once and no guard opens.
	Silent time.Duration
}

func (s Settings) notice() Notice {
	rate, by := s.capacity(s.Latency)
	late := s.behind(rate)
	n := Notice{Bound: ByWork, Mean: s.mean(late), Longest: s.longest(late)}
	if s.due(s.Endpoints) > rate {
		n.Bound = by
	}
	n.Recovering = s.longest(late + s.delayed(s.left(rate, s.limit())))
	silent, _ := s.capacity(s.Timeout)
	n.Silent = s.longest(s.behind(s.left(silent, float64(s.PerTick))))
	return n
}

// mean: half the interval and half a tick on average, and a whole confirm for every
// further failure that fall asks for.
func (s Settings) mean(late time.Duration) time.Duration {
	interval := (s.Policy.Recheck + s.Policy.Tick).Seconds() + late.Seconds()
	confirm := (s.Policy.Confirm + s.Policy.Tick/2).Seconds() + late.Seconds()
	return seconds(interval/2 + flush.Seconds() + float64(s.Policy.Fall-1)*confirm)
}

// longest: a recheck is due half the spread late at most, then waits for its turn and for
// a tick, then hangs until the timeout; every further failure comes a confirm later.
func (s Settings) longest(late time.Duration) time.Duration {
	probe := late.Seconds() + (s.Policy.Tick + s.Timeout).Seconds()
	confirms := float64(s.Policy.Fall-1) * (s.Policy.Confirm.Seconds() + probe)
	return seconds((s.Policy.Recheck + s.spread()/2 + flush).Seconds() + probe + confirms)
}

// behind is how late rechecks are where so many a second can be made: the lane is first
// in, first out, so each endpoint comes once in size / rate.
func (s Settings) behind(rate float64) time.Duration {
	return max(0, seconds(float64(s.Endpoints)/rate)-s.Policy.Recheck)
}

// left is what a rate leaves to rechecks while the recovery lane takes so many a window.
func (s Settings) left(rate, admissions float64) float64 {
	return max(fair*rate, rate-admissions/s.Window.Seconds())
}

// delayed is how late rechecks get by the end of a whole pool's recovery, which leaves them
// so many a second.
func (s Settings) delayed(left float64) time.Duration {
	short := max(0, 1-left/s.due(s.Endpoints))
	return min(seconds(s.back(s.Endpoints).Growing.Seconds()*short), s.behind(left))
}
