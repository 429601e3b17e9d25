package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// A daemon's life is short here: it is killed while it starts, claims, probes or commits, and
// another one takes its place at once.
func TestADaemonIsKilled100Times(t *testing.T) {
	t.Parallel()
	l := newLot(t, testenv.Redis(t), 150, 6, "timeout: 4s", "timeout: 2s", "first_byte: 4s", "first_byte: 2s",
		"recheck: 1s", "recheck: 3s\n    limits: {concurrency: 6}")
	d := start(t, "--config", l.config)
	l.ready("at work")
	longest, taken, began := l.pauses(), l.workers(), time.Now()
	leases := func() int64 { return l.client.ZCard(t.Context(), "proxyward:{c}:leases").Val() }
	orphans := int64(0)
	for n := range 100 {
		if n%4 != 0 { // else: while it starts
			before := l.lastCommit()
			testenv.Eventually(t, 30*time.Second, "it works", func() bool { return l.lastCommit() > before })
		}
		time.Sleep(rand.N(250 * time.Millisecond))
		d.kill()
		orphans = max(orphans, leases())
		d = start(t, "--config", l.config)
		if n%10 == 9 {
			if l.sound(fmt.Sprintf("after kill %d", n+1)); t.Failed() {
				return
			}
		}
	}
	pause, got := longest(), taken()
	l.ready("at work again")
	l.farm.Reset()
	testenv.Eventually(t, time.Minute, "everyone is probed again", func() bool {
		for i := range l.good {
			if l.farm.HitsOf(l.farm.Host(i)) == 0 {
				return false
			}
		}
		return true
	})
	d.signal(syscall.SIGTERM)
	if code := d.wait(20 * time.Second); code != 0 || leases() != 0 {
		t.Errorf("exit status %d after SIGTERM, %d leases left", code, leases())
	}
	l.sound("in the end")
	l.onceAtATime()
	l.trickled(3, time.Second)
	l.figures("a daemon killed 100 times", pause, d)
	t.Logf("in %v; up to %d leases of the dead at once; workers took %d proxies", time.Since(began).Round(time.Second), orphans, got)
	if orphans == 0 || got == 0 {
		t.Errorf("%d leases of the dead, %d proxies taken", orphans, got)
	}
}
