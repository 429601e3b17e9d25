package scheduler_test

import (
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store/record"
)

// A worker that has gone mad, or lies, makes the fleet probe a bounded number of times.
func TestFloodsOfReportsCauseABoundedNumberOfProbes(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	c := reportCheck(t)
	c.Limits.Rate = 20 // so reports may ask for two a second
	const proxies = 60
	p, farm := eligibles(t, url, c, proxies)
	startDaemon(t, url, c) // as many daemons as there are: the bound is the fleet's
	began, w := time.Now(), newWorker(t, url, "mad")
	for range 10 {
		for i := range proxies {
			w.says(farm.ID(i), "failed")
		}
	}
	testenv.Eventually(t, 30*time.Second, "all are counted", func() bool {
		n := reported(t, p)
		return n["applied"]+n["answered"] == 10*proxies
	})
	testenv.Eventually(t, 10*time.Second, "two ticks", ticksPassed(t, p, 2200))
	most := int(2 + 2*time.Since(began).Seconds())
	n := reported(t, p)
	if asked := int(n["asked"]); asked < 1 || asked > most || n["throttled"] == 0 {
		t.Errorf("asked for %d, at most %d; %v", asked, most, n)
	}
	if hits := len(farm.Hits()); hits < 1 || hits > most {
		t.Errorf("%d probes, at most %d", hits, most)
	}
	sound(t, p)
}

func TestGoodReportsPutTheRecheckOffUpToTheBound(t *testing.T) {
	t.Parallel()
	testenv.EachRedis(t, func(t *testing.T, url string) {
		c := reportCheck(t)
		c.Reports.Stretch = 2
		p, farm := eligibles(t, url, c, 2)
		w := newWorker(t, url, "w")
		probed := look(t, p, farm.ID(0)).Record.LastProbeMs
		hour := time.Hour.Milliseconds()
		stretched := int64(0)
		for _, step := range []struct {
			name     string
			past     time.Duration
			from, to int64 // when it is due then, since the last probe
		}{
			{"after 40 minutes", 40 * time.Minute, hour * 3 / 2, hour * 7 / 4},
			{"after 80 minutes", 40 * time.Minute, 2 * hour, 2 * hour}, // the bound
		} {
			for _, field := range []string{"offset", "high"} {
				if err := w.raw.HIncrBy(t.Context(), "proxyward:{c}:clock", field, step.past.Milliseconds()).Err(); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				w.says(farm.ID(0), "ok")
			}
			testenv.Eventually(t, 10*time.Second, step.name, func() bool { return reported(t, p)["stretched"] > stretched })
			stretched = reported(t, p)["stretched"]
			testenv.Eventually(t, 10*time.Second, "applied", func() bool { return reported(t, p)["applied"] == int64(w.ms) })
			if due := look(t, p, farm.ID(0)).Lanes[record.Recheck] - probed; due < step.from || due > step.to {
				t.Errorf("%s: due %v after the last probe", step.name, time.Duration(due)*time.Millisecond)
			}
		}
		if n := farm.HitsOf(farm.Host(0)); n != 0 {
			t.Errorf("probed %d times", n)
		}
		testenv.Eventually(t, 10*time.Second, "the one nobody reported about is rechecked", func() bool { return farm.HitsOf(farm.Host(1)) == 1 })
		sound(t, p)
	})
}
