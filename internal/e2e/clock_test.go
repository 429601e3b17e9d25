package e2e_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

const day = 24 * time.Hour

func TestTheClocksOfServerAndDaemonsAreMoved(t *testing.T) {
	t.Parallel()
	x := newTimed(t)
	first, its := x.daemon()
	second, others := x.daemon()
	x.begin()
	for _, move := range []struct {
		what  string
		clock *testenv.Clock
		by    time.Duration
	}{
		{"one daemon's", its, day}, {"the other daemon's", others, -day}, {"one daemon's", its, -2 * day},
		{"the server's", x.server, time.Hour}, {"the server's", x.server, -time.Hour},
		{"the server's", x.server, -day}, {"the server's", x.server, day},
	} {
		before, began := x.watch.now(), time.Now()
		move.clock.Step(t, move.by)
		for n := range 2 { // two windows and a little
			time.Sleep(1100 * time.Millisecond)
			x.mu.Lock()
			last := slices.MaxFunc(x.trials, time.Time.Compare)
			x.mu.Unlock()
			if n == 1 && last.Before(began) {
				t.Errorf("no trial within %v of moving %s clock by %v", time.Since(began), move.what, move.by)
			}
		}
		if passed := x.watch.now() - before; passed < 0 || passed > time.Since(began)+2*time.Second {
			t.Errorf("moving %s clock by %v moved the pool's time by %v", move.what, move.by, passed)
		}
	}
	x.watch.steady(t, 4)

	took := x.killProbing(first, second)()
	if took > 2*clockLease { // one lease period may have been added by the last correction
		t.Errorf("the leases of a killed daemon were over after %v", took)
	}
	longest := x.trickled()
	if longest > clockLease {
		t.Errorf("no trial for %v", longest)
	}
	x.unharmed()
	t.Logf("FIGURE clocks moved: longest time without a recovery %v, leases of a killed daemon over after %v", longest.Round(10*time.Millisecond), took.Round(10*time.Millisecond))
}

func TestAStallOfThreeSecondsAgainAndAgain(t *testing.T) {
	t.Parallel()
	x := newTimed(t)
	first, _ := x.daemon()
	second, _ := x.daemon()
	x.begin()
	leases := x.killProbing(second, first)
	x.daemon()
	const stall, every = 3 * time.Second, 15 * time.Second
	for range 2 {
		freeze(x.process, stall)
		time.Sleep(every/2 - stall)
		freeze(first.cmd.Process.Pid, stall)
		time.Sleep(every/2 - stall)
	}
	x.watch.steady(t, 0)
	took := leases()
	if took > clockLease+2*stall {
		t.Errorf("the leases of a killed daemon were over after %v", took)
	}
	longest := x.trickled()
	x.unharmed()
	t.Logf("FIGURE stalls of 3 s: longest time without a recovery %v, leases of a killed daemon over after %v", longest.Round(10*time.Millisecond), took.Round(10*time.Millisecond))
}

// A suspended machine's monotonic clock stands still; everybody else's goes on.
func TestASuspendedMachineAndADaemonThatSeesALeapFirst(t *testing.T) {
	t.Parallel()
	x := newTimed(t)
	suspended, its := x.daemon()
	other, _ := x.daemon()
	x.begin()

	// Beside a daemon that goes on: its leases go to the other, its results come too late.
	release := x.holdGood()
	testenv.Eventually(t, 10*time.Second, "good ones are being probed", func() bool { return len(x.probing()) >= goodOnes*3/4 })
	suspended.signal(syscall.SIGSTOP)
	release()
	const asleep = clockLease + 2*time.Second
	time.Sleep(asleep)
	its.StoodStill(t, asleep)
	suspended.signal(syscall.SIGCONT)
	testenv.Eventually(t, 10*time.Second, "late results are refused", func() bool {
		return strings.Contains(suspended.err.String(), "late results refused")
	})
	x.watch.steady(t, 0)
	x.unharmed()

	// Alone: ten minutes have passed for the server of which this daemon knows nothing.
	other.kill()
	before, began := x.watch.now(), time.Now()
	suspended.signal(syscall.SIGSTOP)
	x.server.Step(t, 10*time.Minute)
	its.Step(t, 10*time.Minute)
	suspended.signal(syscall.SIGCONT)
	time.Sleep(2 * time.Second)
	if passed := x.watch.now() - before; passed > time.Since(began)+time.Second {
		t.Errorf("the pool's time went on by %v", passed)
	}
	x.watch.steady(t, 1)
	x.trickled()

	// A daemon that has just started sees a leap before those who would know better.
	before = x.watch.now()
	suspended.signal(syscall.SIGSTOP)
	x.server.Step(t, time.Hour)
	x.daemon()
	testenv.Eventually(t, 10*time.Second, "the leap is taken for real", func() bool { return x.watch.now() > before+time.Hour })
	suspended.signal(syscall.SIGCONT)
	time.Sleep(2 * time.Second)
	x.watch.steady(t, 1)
	x.server.Step(t, -time.Hour)
	time.Sleep(2 * time.Second)
	x.watch.steady(t, 2)
	if passed := x.watch.now() - before; passed > time.Hour+time.Minute {
		t.Errorf("the pool's time went on by %v", passed)
	}
	x.unharmed()
}
