package scheduler_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

// mostWithin is the largest number of times in any window of that length.
func mostWithin(times []time.Time, window time.Duration) (most int) {
	slices.SortFunc(times, time.Time.Compare)
	first := 0
	for i := range times {
		for times[i].Sub(times[first]) >= window {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// noMoreThan holds the trickle of one second against the pool's own log of admissions, to
// the millisecond, and against what the proxies saw, with 200 ms of slack and what this
// process itself was late.
func noMoreThan(t *testing.T, p *store.Pool, farm *testenv.Farm, allowed int, late time.Duration) {
	t.Helper()
	var admitted []time.Time
	for after := "0"; ; {
		events, last, err := p.Events(t.Context(), after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if ms, err := strconv.ParseInt(e["at_ms"], 10, 64); err == nil && e["to"] == string(record.Permitted) {
				admitted = append(admitted, time.UnixMilli(ms))
			}
		}
		if last == after {
			break
		}
		after = last
	}
	if most := mostWithin(admitted, time.Second); most > allowed {
		t.Errorf("%d admissions within a second, %d allowed", most, allowed)
	}
	if most := mostWithin(farm.Hits(), 800*time.Millisecond-late); most > allowed {
		t.Errorf("the proxies saw %d trials within a second, %d allowed (we were up to %v late)", most, allowed, late)
	}
}

// lateness says how late this process was at worst since it was called.
func lateness(t *testing.T) func() time.Duration {
	t.Helper()
	const every = 5 * time.Millisecond
	worst, stop, done := time.Duration(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for last := time.Now(); ; {
			select {
			case <-stop:
				return
			case <-time.After(every):
			}
			now := time.Now()
			worst = max(worst, now.Sub(last)-every)
			last = now
		}
	}()
	return func() time.Duration {
		close(stop)
		<-done
		return worst
	}
}

func TestTheFleetAdmitsAtMostTheTrickleInAnySecond(t *testing.T) {
	t.Parallel()
	for _, daemons := range []int{1, 2, 10} {
		t.Run(fmt.Sprintf("%d daemons", daemons), func(t *testing.T) {
			t.Parallel()
			const n = 500
			url := testenv.Redis(t)
			p := openPool(t, url)
			farm := testenv.NewFarm(t, n)
			farm.Answer(testenv.Say(http.StatusForbidden))
			enroll(t, p, farm, n)
			c := testCheck(t)
			c.Policy.Cooldown.Base, c.Policy.Cooldown.Jitter = 3*time.Second, nil
			stop := startDaemon(t, url, c)
			testenv.Eventually(t, 20*time.Second, "all cooling", func() bool { return states(t, p)[record.Cooling] == n })
			stop()
			testenv.Eventually(t, 20*time.Second, "all due", func() bool {
				s, err := p.Status(t.Context())
				return err == nil && s.Lanes[record.Recovery].Due == n
			})
			farm.Reset()
			for range daemons {
				startDaemon(t, url, c)
			}
			ids := make([]string, n)
			for i := range ids {
				ids[i] = farm.ID(i)
			}
			if _, err := p.Recheck(t.Context(), 0, ids); err != nil {
				t.Fatal(err)
			}
			late := lateness(t)
			testenv.Eventually(t, 30*time.Second, "40 trials", func() bool { return len(farm.Hits()) >= 40 })
			noMoreThan(t, p, farm, 5, late())
			sound(t, p)
		})
	}
}
