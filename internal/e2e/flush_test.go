package e2e_test

import (
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// Somebody's SCRIPT FLUSH, all the time: no script is known when it is called.
func TestScriptsAreFlushedAllTheTime(t *testing.T) {
	t.Parallel()
	l := newLot(t, testenv.Redis(t), 50, 6)
	d := start(t, "--config", l.config)
	l.ready("at work")
	longest, taken := l.pauses(), l.workers()
	l.farm.Reset()
	for range 80 {
		if err := l.client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // the fault's own rhythm
	}
	pause, got, probes := longest(), taken(), len(l.farm.Hits())
	l.sound("in the end")
	l.onceAtATime()
	l.figures("SCRIPT FLUSH every 100 ms for 8 s", pause, d)
	t.Logf("%d probes; workers took %d proxies", probes, got)
	if n := len(d.said("redis is away")); n > 0 || pause > 5*time.Second || probes < 2*l.good || got == 0 {
		t.Errorf("told %d times that redis is away, longest pause %v, %d probes, %d proxies taken", n, pause, probes, got)
	}
}
