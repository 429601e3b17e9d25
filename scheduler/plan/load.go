package plan

import "time"

// Load is how many probes reach the target.
type Load struct {
	PerSecond float64
	Bound     Bound // why it is not more
}

// rest is the load while every endpoint is eligible.
func (s Settings) rest() Load {
	return s.within(s.due(s.Endpoints))
}

// worst is the heaviest load that can last: while the target fails, or while fall or rise
// are undecided, every endpoint is probed after confirm; while endpoints go out and come
// back, the trickle comes on top of the rechecks, each of them once in its first pause.
func (s Settings) worst() Load {
	n := float64(s.Endpoints)
	undecided := n / min(s.Policy.Confirm, s.Policy.Recheck).Seconds()
	trials := min(float64(s.MaxPerTick)/s.Window.Seconds(), n/s.shortest().Seconds())
	return s.within(max(undecided, s.due(s.Endpoints)+trials))
}

func (s Settings) within(work float64) Load {
	most, by := s.capacity(s.Latency)
	if work <= most {
		return Load{work, ByWork}
	}
	return Load{most, by}
}

// burst is how many probes can start within one second: what the bucket holds, and what
// flows in meanwhile. None of a pool's endpoints comes twice, if confirm is longer.
func (s Settings) burst() float64 {
	most := max(s.Rate, 1) + s.Rate
	if s.Policy.Confirm >= time.Second {
		most = min(most, float64(s.Endpoints))
	}
	return most
}

// most is how many endpoints these settings can re-check in time; the host of most of them
// keeps its share.
func (s Settings) most() int {
	rate, _ := s.capacity(s.Latency)
	return int(rate * s.Policy.Recheck.Seconds())
}
