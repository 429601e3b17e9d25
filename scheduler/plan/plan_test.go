package plan_test

import (
	"math"
	"testing"
	"time"

	"proxyward/checks/verdict"
	"proxyward/scheduler/plan"
	"proxyward/scheduler/policy"
)

// usual are the defaults of a check with 12,000 endpoints.
func usual() plan.Settings {
	jitter := 0.2
	return plan.Settings{
		Endpoints: 12_000,
		Policy: policy.Policy{Rise: 1, Fall: 1, Confirm: 10 * time.Second, Recheck: 5 * time.Minute, Tick: time.Second,
			Cooldown: policy.Cooldown{Rule: policy.Rule{Base: 30 * time.Second, Factor: 2, Max: 30 * time.Minute, Jitter: &jitter}}},
		PerTick: 5, MaxPerTick: 200, Window: time.Second, Rate: 200, Concurrency: 256, Prober: 512, Share: 256, PerHost: 16, Daemons: 1,
		Timeout: 15 * time.Second, Latency: time.Second, Requests: 1, MostRequests: 1,
	}
}

// with changes the usual settings.
func with(change func(*plan.Settings)) plan.Settings {
	s := usual()
	change(&s)
	return s
}

func passed(at time.Time) policy.Result {
	return policy.Result{Verdict: verdict.Verdict{Passed: true, Total: time.Second}, AtMs: at.UnixMilli(), Dice: 0.5}
}

func TestTheLoadIsWhatFallsDueWithinTheBounds(t *testing.T) {
	for _, c := range []struct {
		name        string
		settings    plan.Settings
		rest, worst plan.Load
		most        int
	}{
		{"12,000 in 300 s; in 10 s while the target fails", usual(), plan.Load{40, plan.ByWork}, plan.Load{200, plan.ByRate}, 60_000},
		{"1,000 in 10 s are more than 1,000 in 300 s and a trickle of 50", with(func(s *plan.Settings) { s.Endpoints, s.MaxPerTick = 1000, 50 }),
			plan.Load{10. / 3, plan.ByWork}, plan.Load{100, plan.ByWork}, 60_000},
		{"48 in 300 s, and all of them come back after 24 s", with(func(s *plan.Settings) { s.Endpoints, s.Policy.Confirm = 48, 5*time.Minute }),
			plan.Load{0.16, plan.ByWork}, plan.Load{2.16, plan.ByWork}, 60_000},
		{"12,000 in 300 s and a trickle of 50 a second", with(func(s *plan.Settings) { s.MaxPerTick, s.Policy.Confirm = 50, 5*time.Minute }),
			plan.Load{40, plan.ByWork}, plan.Load{90, plan.ByWork}, 60_000},
		{"more falls due than the rate allows", with(func(s *plan.Settings) { s.Endpoints = 90_000 }), plan.Load{200, plan.ByRate}, plan.Load{200, plan.ByRate}, 60_000},
		{"3 daemons × 16 slots / 2 s", with(func(s *plan.Settings) { s.Concurrency, s.Share, s.Daemons, s.Latency = 16, 16, 3, 2*time.Second }),
			plan.Load{24, plan.ByConcurrency}, plan.Load{24, plan.ByConcurrency}, 7200},
		{"8 slots that other checks leave", with(func(s *plan.Settings) { s.Share = 8 }), plan.Load{8, plan.ByProber}, plan.Load{8, plan.ByProber}, 2400},
		{"16 to the only host", with(func(s *plan.Settings) { s.Largest = 12_000 }), plan.Load{16, plan.ByHost}, plan.Load{16, plan.ByHost}, 4800},
		{"16 to a host with a quarter of all", with(func(s *plan.Settings) { s.Largest = 3000 }), plan.Load{40, plan.ByWork}, plan.Load{64, plan.ByHost}, 19_200},
		{"16 to a host with no more than that", with(func(s *plan.Settings) { s.Endpoints, s.Largest = 30, 16 }),
			plan.Load{0.1, plan.ByWork}, plan.Load{3, plan.ByWork}, 60_000},
		{"a probe every 5 s, though the rate is one in 2 s", with(func(s *plan.Settings) { s.Rate, s.Policy.Tick = 0.5, 5*time.Second }),
			plan.Load{0.2, plan.ByTick}, plan.Load{0.2, plan.ByTick}, 60},
		{"a slow rate that a result finds refilled", with(func(s *plan.Settings) { s.Rate, s.Policy.Tick = 1, 5*time.Second }),
			plan.Load{1, plan.ByRate}, plan.Load{1, plan.ByRate}, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan.Of(c.settings)
			if !same(p.Rest, c.rest) || !same(p.Worst, c.worst) || p.Most != c.most {
				t.Errorf("at rest %v, at worst %v, good for %d; want %v, %v, %d", p.Rest, p.Worst, p.Most, c.rest, c.worst, c.most)
			}
		})
	}
}

func same(a, b plan.Load) bool { return a.Bound == b.Bound && math.Abs(a.PerSecond-b.PerSecond) < 1e-9 }

func TestABurstIsWhatTheBucketHoldsAndWhatFlowsIn(t *testing.T) {
	for _, c := range []struct {
		name string
		s    plan.Settings
		want float64
	}{
		{"a full bucket of 200, and 200", usual(), 400},
		{"no endpoint twice", with(func(s *plan.Settings) { s.Endpoints = 70 }), 70},
		{"unless confirm is that short", with(func(s *plan.Settings) { s.Endpoints, s.Policy.Confirm = 70, 500*time.Millisecond }), 400},
		{"a bucket holds one probe at least", with(func(s *plan.Settings) { s.Rate = 0.25 }), 1.25},
	} {
		if got := plan.Of(c.s).Burst; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestADeadEndpointIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name          string
		s             plan.Settings
		mean, longest time.Duration
		bound         plan.Bound
	}{
		// (300 + 1) / 2 + 0.2; 300 + half of 12,000/200 + 1 + 15 + 0.2
		{"usual", usual(), 150_700, 346_200, plan.ByWork},
		// + 2 × (10 + 0.5); + 2 × (10 + 1 + 15)
		{"three failures", with(func(s *plan.Settings) { s.Policy.Fall = 3 }), 171_700, 398_200, plan.ByWork},
		// 300 s behind: (600 + 1) / 2 + 0.2; 300 + 150 + 300 + 1 + 15 + 0.2
		{"rechecks outrun the rate", with(func(s *plan.Settings) { s.Endpoints = 120_000 }), 300_700, 766_200, plan.ByRate},
	} {
		n := plan.Of(c.s).Notice
		if n.Mean != c.mean*time.Millisecond || n.Longest != c.longest*time.Millisecond || n.Bound != c.bound {
			t.Errorf("%s: mean %v, longest %v by %s, want %v, %v by %s", c.name, n.Mean, n.Longest, n.Bound,
				c.mean*time.Millisecond, c.longest*time.Millisecond, c.bound)
		}
	}
}

func TestADeadEndpointIsNoticedLaterWhileOthersTakeTheProbes(t *testing.T) {
	p := plan.Of(usual())
	// 256 slots / 15 s - 5 trials a second leave 12.07 of the 40 that fall due: 12,000 / 12.07 instead of 300 s
	left := 256./15 - 5
	silent := p.Notice.Longest.Seconds() + 12_000/left - 300
	if math.Abs(p.Notice.Silent.Seconds()-silent) > 0.001 {
		t.Errorf("all silent: %v, want %.3f s", p.Notice.Silent, silent)
	}
	// a trickle of 200 leaves a tenth of the rate: half of what falls due, for as long as the recovery takes
	recovering := p.Notice.Longest + p.All.Growing/2
	if p.Notice.Recovering.Round(time.Millisecond) != recovering.Round(time.Millisecond) {
		t.Errorf("recovering: %v, want %v", p.Notice.Recovering, recovering)
	}
	few := plan.Of(with(func(s *plan.Settings) { s.Endpoints = 1000 })).Notice
	if few.Recovering != few.Longest {
		t.Errorf("a tenth of the rate is enough for 1,000, yet recovering %v, else %v", few.Recovering, few.Longest)
	}
}

func TestANewListIsJudgedAtTheRate(t *testing.T) {
	for want, s := range map[time.Duration]plan.Settings{
		62_200 * time.Millisecond:  usual(), // 12,000 / 200 + 1 + 1 + 0.2
		133_200 * time.Millisecond: with(func(s *plan.Settings) { s.Policy.Rise = 2 }),
	} {
		if got := plan.Of(s).First; got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
