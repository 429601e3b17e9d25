package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// The machine of Redis loses its power: what was appended in the last moments is gone, as
// appendfsync everysec allows, and the file may end within a transaction. Redis 7.0 then cuts
// it off inside that, and at the start after the next carries out the half that is left; so
// each power cut is followed by a restart. What that breaks the daemon mends by itself.
func TestRedisLosesItsPower(t *testing.T) {
	t.Parallel()
	server := testenv.NewServer(t, "--appendonly", "yes", "--appendfsync", "everysec")
	l := newLot(t, server.URL, 50, 6)
	d := start(t, "--config", l.config)
	l.ready("at work")
	longest, taken, lost := l.pauses(), l.workers(), int64(0)
	works := func(when string) {
		before := l.lastCommit()
		testenv.Eventually(t, 20*time.Second, "a commit "+when, func() bool { return l.lastCommit() > before })
	}
	for n := range 8 {
		size := server.Appended()
		time.Sleep(300*time.Millisecond + rand.N(900*time.Millisecond)) // what a second of work appends
		grown := server.Appended() - size
		kept := size + rand.N(max(grown, 1))
		server.PowerCut(kept)
		lost += grown - (kept - size)
		server.Start()
		works(fmt.Sprintf("after power cut %d", n+1))
		server.Kill()
		server.Start()
		works("after the restart")
	}
	broken := proxyward(t, "fsck", "--config", l.config, "--json")
	ended := time.Now()
	testenv.Eventually(t, 90*time.Second, "all is mended", func() bool { return proxyward(t, "fsck", "--config", l.config).code == 0 })
	mended := time.Since(ended)
	pause, got := longest(), taken()
	l.ready("at work again")
	l.sound("in the end")
	l.repairs = true
	l.figures("Redis without power 8 times", pause, d)
	t.Logf("%d bytes of appended commands were lost; fsck was clean after %v, before: %s; workers took %d proxies",
		lost, mended.Round(time.Second), broken.out, got)
	if lost == 0 || got == 0 || mended > time.Minute {
		t.Errorf("%d bytes lost, %d proxies taken, mended after %v", lost, got, mended)
	}
}
