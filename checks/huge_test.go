package checks_test

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
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

// dripping is every second a byte, in the stage at which a probe then runs out of time.
type dripping struct {
	stage      verdict.Stage
	serve      zoo.Handler
	proxy, url string
}

var drippings = []dripping{
	{verdict.Tunnel, idle, "http", "https://target.test/"},
	{verdict.Tunnel, zoo.Drip("HTTP/1.1 200 Connection established\r\n\r\n", time.Second), "http", "https://target.test/"},
	{verdict.Tunnel, zoo.Slowly(6*time.Second, hello5, grant5), "socks5h", "http://target.test/"},
	{verdict.Tunnel, zoo.Slowly(3*time.Second, "\x00\x5a\x00\x50\x7f\x00\x00\x01"), "socks4a", "http://target.test/"},
	{verdict.ProxyAuth, zoo.Dialogue(idle, "\x05\x02"), "socks5h://a:b@", "http://target.test/"},
	{verdict.ProxyTLS, zoo.Drip("\x16\x03\x03\x10\x00"+strings.Repeat("\x02", 100), time.Second), "https", "http://target.test/"},
	{verdict.TargetTLS, zoo.GrantThen(false, zoo.Drip("\x16\x03\x03\x10\x00"+strings.Repeat("\x02", 100), time.Second)), "http", "https://target.test/"},
	{verdict.Headers, idle, "http", "http://target.test/"},
	{verdict.Body, zoo.Flood("HTTP/1.1 200 OK\r\n\r\n", "x", time.Second), "http", "http://target.test/"},
}

// Ten thousand silent or dripping peers at once, in every stage: deadlines hold, memory is
// bounded, all goroutines and descriptors come back. PROXYWARD_HUGE is the number;
// without it a few show that it runs.
func TestManySlowPeersAtOnce(t *testing.T) {
	n := 300
	fmt.Sscan(os.Getenv("PROXYWARD_HUGE"), &n)
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil {
		t.Fatal(err)
	}
	n = min(n, int(most.Max)/2-50)                // each needs a descriptor on both sides
	limit, begin := 12*time.Second, 8*time.Second // all are in flight before the first is over
	if n <= 1000 {                                // the small form only shows that it runs
		limit, begin = 300*time.Millisecond, 0
	}
	var peers []*zoo.Server
	var tests []*checks.Check
	for _, d := range drippings {
		peers = append(peers, zoo.Serve(t, d.serve))
		spec := request(d.url)
		spec.Steps[0].Request.Timeout = limit
		if d.stage != verdict.Body {
			spec.Steps[0].Request.Timeout = 3 * limit
		}
		spec.Steps[0].Request.Timeouts = checks.Timeouts{Connect: limit, Handshake: limit, FirstByte: limit}
		tests = append(tests, compile(t, spec))
	}
	before, files := runtime.NumGoroutine(), openFiles(t)
	var mu sync.Mutex
	var over []time.Duration
	var wg sync.WaitGroup
	for i := range n {
		d, c := drippings[i%len(drippings)], tests[i%len(drippings)]
		scheme, userinfo, _ := strings.Cut(d.proxy, "://")
		ep := mustParse(t, peers[i%len(peers)].URL(scheme, strings.TrimSuffix(userinfo, "@")))
		if i%10 == 9 {
			time.Sleep(10 * begin / time.Duration(n))
		}
		wg.Go(func() {
			v := c.Run(t.Context(), ep, checks.RunOptions{})
			if (v.Stage != d.stage || v.Reason != verdict.Timeout) && v.Blame != verdict.Local { // a machine that is too busy says so
				t.Errorf("%s, want %s: %s", says(v), d.stage, v.Detail)
			}
			spent := v.Timings[d.stage]
			if d.stage == verdict.Body {
				spent = v.Total
			}
			mu.Lock()
			over = append(over, spent-limit)
			mu.Unlock()
		})
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	wg.Wait()
	slices.Sort(over)
	p99, each := over[len(over)*99/100], m.Sys/uint64(n)
	t.Logf("%d probes: 99%% ended within %s of their deadline, the last %s; %d KiB each with their peers", n, p99, over[len(over)-1], each>>10)
	if n > 1000 && (p99 > 100*time.Millisecond || each > 128<<10) {
		t.Errorf("p99 %s over the deadline, %d bytes each", p99, each)
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
