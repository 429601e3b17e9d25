package checks_test

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/checks/verdict"
	"proxyward/internal/zoo"
)

// idle keeps a connection open at little cost.
func idle(c net.Conn) {
	var b [64]byte
	for {
		if _, err := c.Read(b[:]); err != nil {
			return
		}
	}
}

// Ten thousand silent or dripping proxies at once: deadlines hold, memory is bounded, all
// goroutines and descriptors come back. PROXYWARD_HUGE is the number, as CI sets it.
func TestManySlowPeersAtOnce(t *testing.T) {
	n := 300
	fmt.Sscan(os.Getenv("PROXYWARD_HUGE"), &n)
	const limit = 12 * time.Second
	peers := []*zoo.Server{zoo.Serve(t, idle), zoo.Serve(t, zoo.Drip("HTTP/1.1 200 Connection established\r\n\r\n", 500*time.Millisecond))}
	spec := request("https://target.test/")
	spec.Steps[0].Request.Timeout = 30 * time.Second
	spec.Steps[0].Request.Timeouts.Handshake = limit
	if n <= 1000 { // the small form only shows that it runs
		spec.Steps[0].Request.Timeouts.Handshake = limit / 80
	}
	c := compile(t, spec)
	before, files := runtime.NumGoroutine(), openFiles(t)
	var mu sync.Mutex
	var over []time.Duration
	var wg sync.WaitGroup
	for i := range n {
		ep := mustParse(t, peers[i%len(peers)].URL("http", ""))
		if i%10 == 9 && n > 1000 { // ten thousand within 8 s: all are in flight before the first is over
			time.Sleep(8 * time.Millisecond)
		}
		wg.Go(func() {
			v := c.Run(t.Context(), ep, checks.RunOptions{})
			if says(v) != "tunnel timeout proxy" && v.Blame != verdict.Local { // a machine that is too busy says so
				t.Errorf("%s: %s", says(v), v.Detail)
			}
			mu.Lock()
			over = append(over, v.Timings[verdict.Tunnel]-spec.Steps[0].Request.Timeouts.Handshake)
			mu.Unlock()
		})
	}
	wg.Wait()
	slices.Sort(over)
	p99 := over[len(over)*99/100]
	t.Logf("%d probes: 99%% ended within %s of their deadline, the last %s", n, p99, over[len(over)-1])
	if n > 1000 && p99 > 100*time.Millisecond {
		t.Errorf("p99 %s over the deadline", p99)
	}
	for _, p := range peers {
		p.Close()
	}
	for range 200 {
		if runtime.NumGoroutine() <= before && openFiles(t) <= files {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("goroutines %d to %d, descriptors %d to %d", before, runtime.NumGoroutine(), files, openFiles(t))
}
