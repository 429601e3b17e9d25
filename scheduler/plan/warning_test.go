package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"proxyward/scheduler/plan"
	"proxyward/scheduler/policy"
)

// Each case breaks one thing, and mends it as the warning says.
func TestSettingsThatDoNotGoTogether(t *testing.T) {
	for _, c := range []struct {
		code   string
		fatal  bool
		s      plan.Settings
		says   []string // in what is wrong and what to change
		mended func(*plan.Settings)
	}{
		{"rechecks_outrun_rate", true, with(func(s *plan.Settings) { s.Rate, s.MaxPerTick = 20, 20 }),
			[]string{"12,000 endpoints every 5m are 40 probes a second", "limits.rate allows 20", "every 10m", "recheck to 10m or more", "limits.rate to 40/s"},
			func(s *plan.Settings) { s.Policy.Recheck = 10 * time.Minute }},
		{"rechecks_outrun_rate", true, with(func(s *plan.Settings) { s.Rate, s.MaxPerTick = 20, 20 }), nil, func(s *plan.Settings) { s.Rate = 40 }},
		{"too_few_slots", true, with(func(s *plan.Settings) { s.Concurrency, s.Share, s.MaxPerTick, s.PerTick = 30, 30, 5, 1 }),
			[]string{"keep 40 slots busy for 1s each", "there are 30 (limits.concurrency)", "recheck to 6m40s or more", "limits.concurrency to 40 or more", "run 2 daemons"},
			func(s *plan.Settings) { s.Concurrency, s.Share = 40, 40 }},
		{"too_few_slots", true, with(func(s *plan.Settings) { s.Concurrency, s.Share, s.MaxPerTick, s.PerTick = 30, 30, 5, 1 }), nil,
			func(s *plan.Settings) { s.Daemons = 2 }},
		{"too_few_slots", true, with(func(s *plan.Settings) { s.Concurrency, s.Share, s.Prober, s.MaxPerTick, s.PerTick = 30, 15, 30, 5, 1 }),
			[]string{"there are 15 (prober.concurrency)", "limits.concurrency to 40 and prober.concurrency to 80 or more"},
			func(s *plan.Settings) { s.Concurrency, s.Share, s.Prober = 40, 40, 80 }},
		{"tick_too_slow", true, with(func(s *plan.Settings) {
			s.Endpoints, s.Rate, s.PerTick, s.MaxPerTick, s.Policy.Tick, s.Window = 100, 0.5, 1, 1, 10*time.Second, 10*time.Second
		}), []string{"a rate of 0.5/s with a tick of 10s makes 0.1", "scheduler.tick to @every 2s"},
			func(s *plan.Settings) { s.Policy.Tick = 2 * time.Second }},
		{"floor_keeps_all", false, with(func(s *plan.Settings) { s.Floor = 12_000 }), []string{"keeps 12,000 endpoints in, and the pool has 12,000"},
			func(s *plan.Settings) { s.Floor = 11_999 }},
		{"host_too_narrow", true, with(func(s *plan.Settings) { s.Largest = 6000 }),
			[]string{"6,000 endpoints are at one proxy host", "keep 20 probes", "allows 16", "per_host to 20", "recheck to 6m15s"},
			func(s *plan.Settings) { s.PerHost = 20 }},
		{"host_too_narrow", true, with(func(s *plan.Settings) { s.Largest = 6000 }), nil, func(s *plan.Settings) { s.Policy.Recheck = 375 * time.Second }},
		{"trickle_over_rate", false, with(func(s *plan.Settings) {
			s.PerTick, s.MaxPerTick, s.Latency, s.Timeout = 300, 300, 100*time.Millisecond, 500*time.Millisecond
		}),
			[]string{"per_tick is 300", "200 probes in a window of 1s", "more than 300/s"}, func(s *plan.Settings) { s.Rate = 301 }},
		{"growth_over_rate", false, with(func(s *plan.Settings) { s.MaxPerTick = 500 }), []string{"never reached", "limits.rate to 500/s", "max_per_tick to 200 or less"},
			func(s *plan.Settings) { s.MaxPerTick = 200 }},
		{"growth_over_slots", false, with(func(s *plan.Settings) { s.Latency = 2 * time.Second }),
			[]string{"grow to 200 a window of 1s", "400 slots", "there are 256 (limits.concurrency)", "limits.concurrency to 400 or more"},
			func(s *plan.Settings) { s.Concurrency, s.Share = 400, 400 }},
		{"trials_take_all_slots", false, with(func(s *plan.Settings) { s.PerTick = 20 }), []string{"20 trials", "last 15s take 300 slots", "limits.concurrency to 600 and prober.concurrency to 600"},
			func(s *plan.Settings) { s.Concurrency, s.Share, s.Prober = 600, 600, 600 }},
		{"confirm_under_tick", false, with(func(s *plan.Settings) { s.Policy.Confirm = 100 * time.Millisecond }), []string{"confirm is 100ms", "every 1s", "confirm to 1s"},
			func(s *plan.Settings) { s.Policy.Confirm = time.Second }},
		{"pause_under_tick", false, with(func(s *plan.Settings) { s.Policy.Cooldown.Base = time.Millisecond }), []string{"cooldown.base is 1ms", "cooldown.base to 1s"},
			func(s *plan.Settings) { s.Policy.Cooldown.Base = time.Second }},
		{"recheck_under_timeout", false, with(func(s *plan.Settings) { s.Endpoints, s.Policy.Recheck = 100, 10*time.Second }), []string{"recheck is 10s", "timeout, 15s"},
			func(s *plan.Settings) { s.Timeout = 10 * time.Second }},
		{"outage_disables", false, with(func(s *plan.Settings) {
			s.Policy.Cooldown.Reasons = map[string]policy.Rule{"connect": {DisableAfter: 7}}
		}), []string{"fails 7 times disables it"}, func(s *plan.Settings) { s.Policy.Cooldown.Reasons = nil }},
	} {
		t.Run(c.code, func(t *testing.T) {
			found := plan.Of(c.s).Warnings
			if len(found) != 1 || found[0].Code != c.code || found[0].Fatal != c.fatal {
				t.Fatalf("want %s alone, fatal %v: %+v", c.code, c.fatal, found)
			}
			for _, words := range c.says {
				if !strings.Contains(found[0].What+"; "+found[0].Mend, words) {
					t.Errorf("%q is not in: %s; %s", words, found[0].What, found[0].Mend)
				}
			}
			c.mended(&c.s)
			if left := plan.Of(c.s).Warnings; len(left) > 0 {
				t.Errorf("mended as it says, and still: %+v", left)
			}
		})
	}
	if found := plan.Of(usual()).Warnings; len(found) > 0 {
		t.Errorf("the defaults are warned of: %+v", found)
	}
}

func TestWhatTheChecksOfADaemonShare(t *testing.T) {
	two := []plan.Settings{with(func(s *plan.Settings) { s.Endpoints = 2000 }), with(func(s *plan.Settings) { s.Endpoints = 1000 })}
	for _, c := range []struct {
		name    string
		process plan.Process
		checks  []plan.Settings
		want    []string
	}{
		{"all is well", plan.Process{Embedded: true, Prober: 512, Descriptors: 612}, two, nil},
		{"3,001 in the embedded Redis", plan.Process{Embedded: true, Prober: 512, Descriptors: 612},
			append(slices.Clone(two), with(func(s *plan.Settings) { s.Endpoints, s.Concurrency = 1, 0 })), []string{"embedded_too_small!"}},
		{"512 probes and 611 descriptors", plan.Process{Prober: 512, Descriptors: 611}, two, []string{"too_few_descriptors!"}},
		{"fewer probes than slots need fewer", plan.Process{Prober: 512, Descriptors: 356}, two[:1], nil},
		{"descriptors are not known", plan.Process{Prober: 512}, two, nil},
		{"256 and 256 wanted of 511", plan.Process{Prober: 511, Descriptors: 1000}, two, []string{"slots_shared"}},
	} {
		var got []string
		for _, w := range c.process.Warnings(c.checks) {
			got = append(got, w.Code+map[bool]string{true: "!"}[w.Fatal])
			if w.What == "" || w.Mend == "" {
				t.Errorf("%s: %+v", c.name, w)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
