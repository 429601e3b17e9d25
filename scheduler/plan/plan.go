package plan

import "time"

// Plan is what follows from Settings.
type Plan struct {
	Settings Settings
	Most     int // endpoints that these settings re-check in time
	Rest     Load
	Worst    Load    // the heaviest that can last
	Burst    float64 // probes within one second, at most
	Notice   Notice
	First    time.Duration // until every endpoint of a new list was judged, if all pass
	Back     []Back
	All      Back // of the whole pool
	Wait     []Wait
	Memory   Memory
	Warnings []Warning
}

// sizes and lengths of outages that a plan speaks of.
var (
	returning = []int{100, 10_000, 1_000_000}
	lengths   = []time.Duration{time.Minute, 10 * time.Minute, time.Hour}
)

// Of reckons the plan of one check.
func Of(s Settings) Plan {
	p := Plan{Settings: s, Most: s.most(), Rest: s.rest(), Worst: s.worst(), Burst: s.burst(), Notice: s.notice(),
		First: s.first(), All: s.back(s.Endpoints), Memory: s.memory(), Warnings: s.warnings()}
	for _, n := range returning {
		p.Back = append(p.Back, s.back(n))
	}
	for _, d := range lengths {
		p.Wait = append(p.Wait, s.wait(d))
	}
	return p
}

// first: a list's probes are scattered so that they come at the rate; each endpoint needs
// rise of them.
func (s Settings) first() time.Duration {
	rate, _ := s.capacity(s.Latency)
	again := float64(s.Policy.Rise-1) * (s.Policy.Confirm + s.Policy.Tick).Seconds()
	fixed := (s.Policy.Tick + s.Latency + flush).Seconds()
	return seconds(float64(s.Endpoints*s.Policy.Rise)/rate + fixed + again)
}
