package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
)

const clockYAML = `
redis: {url: "REDIS"}
admin: {listen: ""}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 4s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    recheck: 1s
    trickle: {per_tick: 5, max_per_tick: 5}
    cooldown: {base: 2s, factor: 1, jitter: 0}
`

const (
	clockLease = 14 * time.Second // timeout and margin of clockYAML
	goodOnes   = 10               // the first of the farm; the others are refused, tried and refused again
	clockFarm  = 70
)

// timed is a pool under daemons and a server whose clocks the test moves.
type timed struct {
	t       *testing.T
	farm    *testenv.Farm
	client  *redis.Client
	config  string
	server  *testenv.Clock
	process int // of the server
	watch   *clockWatch
	stall   func() time.Duration

	mu     sync.Mutex
	trials []time.Time   // at the proxies that cool
	hold   chan struct{} // if not nil, good proxies wait here before they answer
}

// newTimed starts the server and the proxies.
func newTimed(t *testing.T) *timed {
	t.Helper()
	x := &timed{t: t, server: testenv.NewClock(t), farm: testenv.NewFarm(t, clockFarm)}
	path, port := testenv.Program(t, "redis-server"), testenv.Port(t)
	cmd := testenv.StartBy(t, x.server.Begin, path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir(), "--hz", "100")
	x.process = cmd.Process.Pid
	testenv.WaitTCP(t, fmt.Sprintf("127.0.0.1:%d", port))
	url := fmt.Sprintf("redis://127.0.0.1:%d/0", port)
	x.client = testenv.Client(t, url)
	var list strings.Builder
	good := map[string]bool{}
	for i := range clockFarm {
		fmt.Fprintln(&list, x.farm.ID(i))
		good[x.farm.Host(i)] = i < goodOnes
	}
	x.config = yaml(t, clockYAML, "REDIS", url, "LIST", file(t, "list", list.String()))
	x.farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		x.mu.Lock()
		hold := x.hold
		if !good[proxy] {
			x.trials = append(x.trials, time.Now())
		}
		x.mu.Unlock()
		if !good[proxy] {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if hold != nil {
			<-hold
		}
		testenv.Good(w, r, proxy)
	})
	return x
}

// daemon starts one with a clock of its own.
func (x *timed) daemon() (*daemon, *testenv.Clock) {
	x.t.Helper()
	c := testenv.NewClock(x.t)
	return startBy(x.t, c.Begin, "--config", x.config), c
}

// begin waits until the pool is at rest, and watches its clock and the trials from then on.
func (x *timed) begin() {
	x.t.Helper()
	testenv.Eventually(x.t, 30*time.Second, "10 eligible, 60 cooling", func() bool {
		counts := x.client.HGetAll(x.t.Context(), "proxyward:{c}:counts").Val()
		return counts["eligible"] == "10" && counts["cooling"] == "60"
	})
	time.Sleep(1200 * time.Millisecond) // first probes of these proxies are no trials
	x.mu.Lock()
	x.trials = nil
	x.mu.Unlock()
	x.stall = stalls(x.t)
	x.watch = watchClock(x.t, x.client)
	testenv.Eventually(x.t, 10*time.Second, "the pool's time is known", func() bool { return x.watch.now() > 0 })
}

// holdGood makes good proxies wait before they answer, until release is called.
func (x *timed) holdGood() (release func()) {
	hold := make(chan struct{})
	x.mu.Lock()
	x.hold = hold
	x.mu.Unlock()
	release = sync.OnceFunc(func() {
		x.mu.Lock()
		x.hold = nil
		x.mu.Unlock()
		close(hold)
	})
	x.t.Cleanup(release)
	return release
}

// probing are the good ones that are being probed now, with the tokens of their leases.
func (x *timed) probing() map[string]string {
	tokens := x.client.HGetAll(x.t.Context(), "proxyward:{c}:tokens").Val()
	all := map[string]string{}
	for i := range goodOnes {
		if token := tokens[x.farm.ID(i)]; token != "" {
			all[x.farm.ID(i)] = token
		}
	}
	return all
}

// killProbing kills a daemon while it probes good ones, and watches the leases that were live
// then. The other daemon stands still meanwhile, lest it holds them all. wait says how long it
// took until the last of them was over.
func (x *timed) killProbing(d, other *daemon) (wait func() time.Duration) {
	x.t.Helper()
	other.signal(syscall.SIGSTOP)
	defer other.signal(syscall.SIGCONT)
	release := x.holdGood()
	testenv.Eventually(x.t, 10*time.Second, "good ones are being probed", func() bool { return len(x.probing()) >= goodOnes*3/4 })
	d.kill()
	killed, before := time.Now(), x.probing()
	release()
	over := make(chan time.Duration, 1)
	go func() {
		for len(before) > 0 && time.Since(killed) < 4*clockLease {
			time.Sleep(20 * time.Millisecond)
			now := x.client.HGetAll(context.Background(), "proxyward:{c}:tokens")
			maps.DeleteFunc(before, func(id, token string) bool { return now.Err() == nil && now.Val()[id] != token })
		}
		over <- time.Since(killed)
	}()
	return func() time.Duration {
		x.t.Helper()
		took := <-over
		if took < clockLease/2 {
			x.t.Errorf("all leases were over after %v: the killed daemon had none", took)
		}
		return took
	}
}

// trickled checks the trials as the proxies saw them and returns the longest time without one.
func (x *timed) trickled() (longest time.Duration) {
	x.t.Helper()
	x.mu.Lock()
	trials := slices.SortedFunc(slices.Values(x.trials), time.Time.Compare)
	x.mu.Unlock()
	const perTick, apart = 5, 800 * time.Millisecond // the window, less the time a probe may take to start
	for i := range trials {
		if i > 0 {
			longest = max(longest, trials[i].Sub(trials[i-1]))
		}
		if i < perTick {
			continue
		}
		if within := trials[i].Sub(trials[i-perTick]); within < apart-x.stall() {
			x.t.Errorf("trials %d to %d came within %v", i-perTick, i, within)
		}
	}
	if len(trials) == 0 {
		x.t.Error("no trial at all")
	}
	return longest
}

// unharmed checks that nobody was penalised and that the pool is sound.
func (x *timed) unharmed() {
	x.t.Helper()
	all := records(x.t, x.client)
	for i := range goodOnes {
		if r := all[x.farm.ID(i)]; r.State != "eligible" || len(r.Classes) > 0 || r.Reason != "" {
			x.t.Errorf("%s was penalised: %+v", x.farm.ID(i), r)
		}
	}
	if len(all) != clockFarm {
		x.t.Errorf("%d endpoints, not %d", len(all), clockFarm)
	}
	ok(x.t, "fsck", "--config", x.config)
}

// freeze stops a process for a while.
func freeze(pid int, d time.Duration) {
	syscall.Kill(pid, syscall.SIGSTOP)
	time.Sleep(d)
	syscall.Kill(pid, syscall.SIGCONT)
}
