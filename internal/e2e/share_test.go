package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// However many daemons there are: one probe of an endpoint at a time, no more trials than the
// trickle, and each daemon does its share of the work. Daemons that by chance tick at nearly the
// same moment share less evenly, two of them 2 to 1: so a fleet that does is replaced twice.
func TestAFleetSharesTheWork(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			for n := 1; !shares(t, size); n++ {
				if n == 3 {
					t.Fatal("three fleets shared unevenly")
				}
			}
		})
	}
}

// shares starts a fleet, holds its probes to the rules, and reports whether each daemon's are
// within 30 % of the mean.
func shares(t *testing.T, size int) (even bool) {
	t.Helper()
	l := newLot(t, testenv.Redis(t), 150, 10)
	var fleet []*daemon
	for range size {
		fleet = append(fleet, start(t, "--config", l.config))
	}
	l.ready("at work")
	testenv.Eventually(t, 20*time.Second, "all daemons know of each other", func() bool {
		return l.client.ZCard(t.Context(), "proxyward:{c}:daemons").Val() == int64(size)
	})
	done := func() (each []int, sum int) {
		for _, d := range fleet {
			n := d.sum(`"worked"`, "probes")
			each, sum = append(each, n), sum+n
		}
		return each, sum
	}
	before, sum := done()
	longest, stall := l.pauses(), stalls(t)
	l.farm.Reset()
	testenv.Eventually(t, time.Minute, "a good number of probes", func() bool { _, now := done(); return now-sum >= 200*size+500 })
	each, now := done()
	even = true
	for i := range each {
		each[i] -= before[i]
		if mean := (now - sum) / size; each[i] < mean*7/10 || each[i] > mean*13/10 {
			t.Logf("daemon %d made %d probes, the mean is %d", i, each[i], mean)
			even = false
		}
	}
	t.Logf("probes by daemon: %v", each)
	l.onceAtATime()
	l.trickled(3, stall())
	l.sound("in the end")
	if refused := l.figures(fmt.Sprintf("%d daemons, nothing wrong", size), longest(), fleet...); refused > 0 {
		t.Errorf("%d results refused", refused)
	}
	for _, d := range fleet {
		d.kill()
	}
	return even
}
