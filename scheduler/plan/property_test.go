package plan_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"proxyward/scheduler/plan"
)

// anySettings are settings as far as a configuration may go.
func anySettings(t *rapid.T) plan.Settings {
	s := usual()
	span := func(what string, least, most time.Duration) time.Duration { // small ones as often as large ones
		d := time.Duration(rapid.Int64Range(1, 1000).Draw(t, what)) * rapid.SampledFrom([]time.Duration{
			time.Millisecond, time.Second, time.Minute, time.Hour, 36500 * 24 * time.Hour / 1000}).Draw(t, what+" in")
		return min(max(d, least), most)
	}
	whole := func(what string, most int) int {
		return min(rapid.SampledFrom([]int{1, 10, 1000, 100_000}).Draw(t, what+" tens")*rapid.IntRange(1, 100).Draw(t, what), most)
	}
	const century = 36500 * 24 * time.Hour
	s.Endpoints, s.Rate = whole("endpoints", 10_000_000), float64(whole("rate", 1_000_000))/rapid.SampledFrom([]float64{1, 60, 3600}).Draw(t, "per")
	s.Largest = rapid.IntRange(0, s.Endpoints).Draw(t, "at the largest host")
	s.Policy.Rise, s.Policy.Fall = whole("rise", 100), whole("fall", 100)
	s.Policy.Tick = time.Duration(whole("tick", 3600)) * time.Second
	s.Policy.Recheck, s.Policy.Confirm = span("recheck", s.Policy.Tick, century), span("confirm", time.Millisecond, century)
	s.Policy.Cooldown.Max = span("cooldown.max", time.Millisecond, century)
	s.Policy.Cooldown.Base = span("cooldown.base", time.Millisecond, s.Policy.Cooldown.Max)
	s.MaxPerTick, s.Window = whole("max_per_tick", 1_000_000), span("window", s.Policy.Tick, century)
	s.PerTick = min(whole("per_tick", 100_000), s.MaxPerTick)
	s.Concurrency, s.Prober, s.PerHost, s.Daemons = whole("concurrency", 100_000), whole("prober", 100_000), whole("per_host", 100_000), whole("daemons", 1000)
	s.Share = min(s.Concurrency, s.Prober)
	s.Timeout = span("timeout", time.Millisecond, time.Hour)
	s.Latency = span("latency", time.Millisecond, s.Timeout)
	return s
}

func TestAPlanIsSoundWhateverTheSettings(t *testing.T) {
	const century = 36500 * 24 * time.Hour
	rapid.Check(t, func(t *rapid.T) {
		s := anySettings(t)
		p := plan.Of(s)
		n := p.Notice
		spans := []time.Duration{n.Mean, n.Longest, n.Recovering, n.Silent, p.First, p.All.Growing, p.All.Steady}
		for _, b := range p.Back {
			spans = append(spans, b.Growing, b.Steady)
			if b.Growing > b.Steady {
				t.Errorf("%d are back later with a trickle that grows: %v, %v", b.Endpoints, b.Growing, b.Steady)
			}
		}
		for _, w := range p.Wait {
			spans = append(spans, w.Longest, w.Once)
			if w.Once > w.Longest {
				t.Errorf("one failure pauses longer than several: %+v", w)
			}
		}
		for i, d := range spans {
			if d <= 0 || d > century {
				t.Errorf("span %d is %v", i, d)
			}
		}
		if n.Mean > n.Longest || n.Longest > n.Recovering || n.Longest > n.Silent {
			t.Errorf("until it is noticed: %+v", n)
		}
		if p.Rest.PerSecond > p.Worst.PerSecond || p.Worst.PerSecond > s.Rate || p.Rest.PerSecond <= 0 {
			t.Errorf("at rest %v, at worst %v, rate %v", p.Rest, p.Worst, s.Rate)
		}
		more := s
		more.Endpoints, more.Largest = 2*s.Endpoints, 2*s.Largest
		if m := plan.Of(more); m.All.Growing < p.All.Growing || m.Memory.Full < p.Memory.Full {
			t.Errorf("twice as many are back earlier: %v, %v", m.All, p.All)
		}
		for _, w := range p.Warnings {
			if w.What == "" || w.Mend == "" {
				t.Errorf("%+v", w)
			}
		}
	})
}
