package scheduler_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"proxyward/internal/testenv"
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
			testenv.Eventually(t, 30*time.Second, "40 trials", func() bool { return len(farm.Hits()) >= 40 })
			if most := mostWithin(farm.Hits(), 800*time.Millisecond); most > 5 {
				t.Errorf("%d trials within a second, 5 allowed", most)
			}
			sound(t, p)
		})
	}
}
