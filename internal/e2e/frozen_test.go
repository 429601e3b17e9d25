package e2e_test

import (
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

const (
	frozenTimeout = 2 * time.Second
	frozenLease   = frozenTimeout + 10*time.Second
)

// A daemon is stopped with results in its hands that it has not yet written, for twice the
// length of a lease; meanwhile another one works. What the first one then has to say is over.
func TestADaemonIsFrozen(t *testing.T) {
	t.Parallel()
	l := newLot(t, testenv.Redis(t), 50, 6, "timeout: 4s", "timeout: 2s", "first_byte: 4s", "first_byte: 2s")
	var flying atomic.Int64 // probes that have no answer yet
	l.farm.Answer(around(&flying, l.answer))
	frozen := start(t, "--config", l.config)
	l.ready("at work")
	leases := func() int64 { return l.client.ZCard(t.Context(), "proxyward:{c}:leases").Val() }
	held := int64(0)
	testenv.Eventually(t, time.Minute, "stopped with results in its hands", func() bool {
		if leases()-flying.Load() < 5 {
			return false
		}
		frozen.signal(syscall.SIGSTOP)
		time.Sleep(200 * time.Millisecond) // what it had sent is written, what it had asked is answered
		if held = leases(); held >= 3 {
			return true
		}
		frozen.signal(syscall.SIGCONT)
		return false
	})
	stopped := time.Now()
	longest, taken := l.pauses(), l.workers()
	other := start(t, "--config", l.config)
	testenv.Eventually(t, frozenLease+20*time.Second, "its leases are freed", func() bool { return other.sum(`"worked"`, "expired_leases") >= int(held) })
	freed := time.Since(stopped)
	time.Sleep(time.Until(stopped.Add(2 * frozenLease)))
	frozen.signal(syscall.SIGCONT)
	testenv.Eventually(t, 20*time.Second, "late results refused", func() bool { return len(frozen.said("late results refused")) > 0 })
	worked := len(frozen.said(`"worked"`))
	testenv.Eventually(t, 20*time.Second, "it works on", func() bool { return len(frozen.said(`"worked"`)) >= worked+3 })
	pause, got := longest(), taken()
	l.sound("in the end")
	l.onceAtATime()
	refused := l.figures("a daemon frozen for twice its lease", pause, frozen, other)
	t.Logf("%d leases were freed %v after the stop; workers took %d proxies", held, freed.Round(100*time.Millisecond), got)
	if refused > int(held) || got == 0 {
		t.Errorf("%d results refused of %d leases, %d proxies taken", refused, held, got)
	}
}

// around counts how many are inside an answer.
func around(inside *atomic.Int64, answer testenv.Answer) testenv.Answer {
	return func(w http.ResponseWriter, r *http.Request, proxy string) {
		inside.Add(1)
		defer inside.Add(-1)
		answer(w, r, proxy)
	}
}
