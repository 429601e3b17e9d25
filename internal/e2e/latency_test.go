package e2e_test

import (
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// Two seconds for a round trip: everything goes on, more slowly; no lease runs out.
func TestRedisIsTwoSecondsAway(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	link := testenv.NewLink(t, strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0"))
	l := newLot(t, url, 50, 6)
	d := start(t, "--config", yaml(t, lotYAML, "REDIS", "redis://"+link.Addr+"/0", "LIST", file(t, "list", l.list())))
	l.ready("at work")
	longest, taken := l.pauses(), l.workers()
	link.Delay(time.Second)
	l.farm.Reset()
	began := time.Now()
	testenv.Eventually(t, 90*time.Second, "each probed four times", func() bool { return len(l.farm.Hits()) >= 4*l.good })
	took := time.Since(began)
	pause, got := longest(), taken()
	link.Delay(0)
	l.ready("at work again")
	l.sound("in the end")
	l.onceAtATime()
	l.figures("2 s of latency to Redis", pause, d)
	expired := d.sum(`"worked"`, "expired_leases")
	t.Logf("each probed four times in %v, %d leases expired, told %d times that redis is away; workers took %d proxies",
		took.Round(100*time.Millisecond), expired, len(d.said("redis is away")), got)
	if expired > 0 || pause > 20*time.Second || got == 0 {
		t.Errorf("%d leases expired, longest pause %v, %d proxies taken", expired, pause, got)
	}
}
