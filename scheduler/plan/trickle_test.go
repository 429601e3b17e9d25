package plan_test

import (
	"testing"
	"time"

	"proxyward/scheduler/plan"
)

func TestCohortsThatPassDoubleTheTrickle(t *testing.T) {
	for _, c := range []struct {
		name            string
		s               plan.Settings
		growing, steady time.Duration // for 100 endpoints
	}{
		// Each verdict comes 1.2 s after the admissions. 5 at 0; 5, and 5 more at 1.2; 20 by 2.4; 40 by 3.6; the last 25 at
		// 4.8; then 1.2 for their results, after a tick of 1. Else 20 windows, the last of them at 19.
		{"usual", usual(), 7_000, 21_200},
		// 0.8 s: known when the window is over. 5, 10, 20, 40, 25: the last at 4, + 0.8 + 1
		{"results within the window", with(func(s *plan.Settings) { s.Latency = 600 * time.Millisecond }), 5_800, 20_800},
		// 10.2 s: 5 in each of 0 to 9; 10 by 10.2, and in 11 to 14
		{"slow results", with(func(s *plan.Settings) { s.Latency = 10 * time.Second }), 25_400, 30_200},
		// 5, 10, then 10 a window: 5 + 9×10 = 95 by window 9, the rest at 10.2
		{"up to max_per_tick", with(func(s *plan.Settings) { s.MaxPerTick = 10 }), 12_400, 21_200},
		// 5, 10, then 20 a window: 95 by window 5, the rest at 6.4
		{"never over the rate", with(func(s *plan.Settings) { s.Rate, s.MaxPerTick, s.Endpoints = 20, 200, 100 }), 8_600, 21_200},
		// 200 admissions: 5 10 20 40 80 45 at 0 1.2 2.4 3.6 4.8 5.8, + 1.2 + 1 + 10
		{"each needs two passes", with(func(s *plan.Settings) { s.Policy.Rise = 2 }), 18_000, 51_200},
		// 2 a second in all, of which rechecks of 12,000 others take a tenth: 1.8 a second, 100 at 55
		{"a rate under the trickle", with(func(s *plan.Settings) { s.Rate = 2 }), 57_200, 57_200},
	} {
		back := plan.Of(c.s).Back[0]
		if back.Endpoints != 100 || back.Growing != c.growing*time.Millisecond || back.Steady != c.steady*time.Millisecond {
			t.Errorf("%s: %d back after %v, %v at the same pace; want 100 after %v, %v", c.name, back.Endpoints, back.Growing, back.Steady,
				c.growing*time.Millisecond, c.steady*time.Millisecond)
		}
	}
}

// What the design promises: 100,000 within 3 minutes of being due at max_per_tick 2,000.
func TestAHundredThousandAreBackWithinMinutes(t *testing.T) {
	s := with(func(s *plan.Settings) {
		s.Endpoints, s.Rate, s.MaxPerTick, s.Concurrency, s.Share = 100_000, 2500, 2000, 4000, 4000
	})
	if all := plan.Of(s).All; all.Growing > 3*time.Minute || all.Growing < 50*time.Second {
		t.Errorf("back after %v", all.Growing)
	}
}

func TestAMillionTakesMilliseconds(t *testing.T) {
	for _, s := range []plan.Settings{usual(), with(func(s *plan.Settings) { s.Endpoints, s.PerTick, s.MaxPerTick = 1_000_000, 1, 1 }),
		with(func(s *plan.Settings) { s.Rate, s.Policy.Rise, s.Endpoints = 1./3600, 100, 10_000_000 })} {
		began := time.Now()
		million := plan.Of(s).Back[2]
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("reckoned for %v", took)
		}
		if million.Growing < time.Hour || million.Growing > million.Steady {
			t.Errorf("a million are back after %v, %v at the same pace", million.Growing, million.Steady)
		}
	}
	// one a second, all the time
	back := plan.Of(with(func(s *plan.Settings) { s.PerTick, s.MaxPerTick = 1, 1 })).Back[2]
	if off := back.Growing - 1_000_000*time.Second; off < 0 || off > 10*time.Second {
		t.Errorf("a million at one a second: %v", back.Growing)
	}
}
