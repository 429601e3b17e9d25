package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

func TestRedisIsKilled50Times(t *testing.T) {
	t.Parallel()
	server := testenv.NewServer(t, "--appendonly", "yes", "--appendfsync", "everysec")
	l := newLot(t, server.URL, 50, 6)
	d := start(t, "--config", l.config)
	l.ready("at work")
	longest, taken, began := l.pauses(), l.workers(), time.Now()
	for n := range 50 {
		time.Sleep(rand.N(200 * time.Millisecond)) // any moment of a claim or a commit
		server.Kill()
		server.Start()
		before := l.lastCommit()
		testenv.Eventually(t, 20*time.Second, fmt.Sprintf("a commit after kill %d", n+1), func() bool { return l.lastCommit() > before })
		if n%10 == 9 {
			l.sound(fmt.Sprintf("after kill %d", n+1))
		}
		if t.Failed() || !d.alive() {
			t.Fatal("given up after kill ", n+1)
		}
	}
	pause, got := longest(), taken()
	l.ready("at work again")
	l.sound("in the end")
	l.onceAtATime()
	l.figures("Redis killed 50 times", pause, d)
	t.Logf("in %v; workers took %d proxies", time.Since(began).Round(time.Second), got)
	if pause > 15*time.Second || got == 0 {
		t.Errorf("longest pause %v, %d proxies taken", pause, got)
	}
}

// What Redis does not keep is built anew from the lists, as candidates: who was eligible and
// is bad by now must not be taken for good.
func TestRedisComesBackEmpty(t *testing.T) {
	t.Parallel()
	server := testenv.NewServer(t)
	l := newLot(t, server.URL, 30, 10, "recheck: 1s", "recheck: 10m")
	var turned atomic.Bool
	l.farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		for i := range l.bad {
			if turned.Load() && proxy == l.farm.Host(l.good+i) {
				w.WriteHeader(http.StatusForbidden)
				return
			}
		}
		testenv.Good(w, r, proxy)
	})
	d := start(t, "--config", l.config)
	members := func() int64 { return l.client.ZCard(t.Context(), "proxyward:{c}:eligible").Val() }
	testenv.Eventually(t, time.Minute, "all eligible", func() bool { return members() == int64(l.good+l.bad) })
	turned.Store(true)
	server.Kill()
	longest := l.pauses()
	server.Start()
	if n := members(); n != 0 {
		t.Fatalf("%d members in an empty Redis", n)
	}
	taken := l.workers()
	l.ready("all judged anew")
	pause, got := longest(), taken()
	l.sound("in the end")
	l.onceAtATime()
	l.figures("Redis restarted empty", pause, d)
	if n := len(d.said("the pool was lost")); n != 1 || got == 0 {
		t.Errorf("told %d times that the pool was lost; workers took %d", n, got)
	}
	for id, r := range records(t, l.client) {
		if r.State == "eligible" && l.isBad(id) {
			t.Errorf("eligible unproven: %s", id)
		}
	}
}
