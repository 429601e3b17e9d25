package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
)

const failoverYAML = `
redis: SERVER
admin: {listen: ""}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 8s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST", refresh: "@every 2s"}]
    recheck: 2s
    cooldown: {base: 1h, max: 24h}
`

const (
	loadGood = 200
	loadBad  = 20
)

// load is a pool under a daemon and workers, on a group of servers.
type load struct {
	t      *testing.T
	farm   *testenv.Farm
	config string
	daemon *daemon
	stall  func() time.Duration

	mu        sync.Mutex
	commits   []int64        // pool times of commits that some server has seen, ms, in no order
	taken     []time.Time    // when a worker was given an endpoint
	refused   map[string]int // what workers heard instead, by the first word
	strangers []string       // given to a worker, and never to be eligible
}

// underLoad starts the proxies, a daemon and workers; server is the YAML of redis, nodes
// are all servers that may hold the pool, and worker is how a worker reaches them.
func underLoad(t *testing.T, server string, nodes []testenv.Node, worker redis.UniversalClient) *load {
	t.Helper()
	x := &load{t: t, farm: testenv.NewFarm(t, loadGood+loadBad), refused: map[string]int{}}
	var list strings.Builder
	bad := map[string]bool{}
	for i := range loadGood + loadBad {
		fmt.Fprintln(&list, x.farm.ID(i))
		bad[x.farm.Host(i)] = i >= loadGood
	}
	x.farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		if bad[proxy] {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		testenv.Good(w, r, proxy)
	})
	x.config = yaml(t, failoverYAML, "SERVER", server, "LIST", file(t, "list", list.String()))
	x.daemon = start(t, "--config", x.config)
	testenv.Eventually(t, 40*time.Second, "all good ones are eligible", func() bool { return x.eligible() == loadGood })
	x.stall = stalls(t)
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() { x.follow(ctx, n) })
	}
	for range 2 {
		all.Go(func() { x.work(ctx, worker) })
	}
	t.Cleanup(func() {
		stop()
		all.Wait()
		worker.Close()
		if t.Failed() {
			o := proxyward(t, "status", "--config", x.config, "--json")
			t.Logf("status: %s%s", o.out, o.err)
		}
	})
	time.Sleep(time.Second) // some load before the fault
	return x
}

func (x *load) eligible() (n int) {
	o := proxyward(x.t, "status", "--config", x.config, "--json")
	if o.code == 0 {
		for _, c := range decode[struct {
			Checks []struct{ States map[string]int }
		}](x.t, o.out).Checks {
			n += c.States["eligible"]
		}
	}
	return n
}

// follow notes the commits that a server knows of.
func (x *load) follow(ctx context.Context, n testenv.Node) {
	c := redis.NewClient(&redis.Options{Addr: n.Addr, MaxRetries: -1, PoolSize: 1, OnConnect: func(ctx context.Context, c *redis.Conn) error {
		c.ReadOnly(ctx) // a replica of a Cluster answers then; everybody else may refuse
		return nil
	}})
	defer c.Close()
	last := int64(0)
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		ms, err := c.HGet(ctx, "proxyward:{c}:meta", "last_commit_ms").Int64()
		if err == nil && ms != last {
			x.mu.Lock()
			x.commits = append(x.commits, ms)
			x.mu.Unlock()
			last = ms
		}
	}
}

// work takes endpoints as a worker does.
func (x *load) work(ctx context.Context, c redis.UniversalClient) {
	text, err := os.ReadFile("../../store/lua/allocate.lua")
	if err != nil {
		x.t.Error(err)
		return
	}
	allocate := redis.NewScript(string(text))
	for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		within, cancel := context.WithTimeout(ctx, time.Second)
		id, err := allocate.Run(within, c, []string{"proxyward:{c}:eligible"}).Text()
		cancel()
		x.mu.Lock()
		if err != nil {
			word, _, _ := strings.Cut(err.Error(), " ")
			x.refused[word]++
			if cluster, is := c.(*redis.ClusterClient); is {
				cluster.ReloadState(ctx) // by itself it learns of a failover within a minute
			}
		} else {
			x.taken = append(x.taken, time.Now())
			if i := x.index(id); i < 0 || i >= loadGood {
				x.strangers = append(x.strangers, id)
			}
		}
		x.mu.Unlock()
	}
}

func (x *load) index(id string) int {
	for i := range loadGood + loadBad {
		if x.farm.ID(i) == id {
			return i
		}
	}
	return -1
}

// figures are what a fault did.
type figures struct {
	pause   time.Duration // the longest between two commits
	workers time.Duration // the longest between two allocations
	late    int           // results refused
	broken  int           // what fsck found
}

// through does what hurts, waits until everything is well again, and checks that nobody was
// lost, penalised or made eligible unproven.
func (x *load) through(what string, hurt func()) figures {
	x.t.Helper()
	x.mu.Lock() // the pause begins with the last of before
	x.commits, x.taken, x.refused = []int64{slices.Max(x.commits)}, []time.Time{slices.MaxFunc(x.taken, time.Time.Compare)}, map[string]int{}
	x.mu.Unlock()
	told := len(x.daemon.err.String())
	hurt()
	x.farm.Reset()
	unseen := make([]int, loadGood)
	for i := range unseen {
		unseen[i] = i
	}
	testenv.Eventually(x.t, 60*time.Second, what+": every good one is probed again", func() bool {
		unseen = slices.DeleteFunc(unseen, func(i int) bool { return x.farm.HitsOf(x.farm.Host(i)) > 1 })
		return len(unseen) == 0
	})
	var f figures
	found := proxyward(x.t, "fsck", "--config", x.config, "--json")
	report := decode[struct {
		Checked    int
		Violations []struct{ Invariant, Endpoint, What string }
	}](x.t, found.out)
	f.broken = len(report.Violations)
	for _, v := range report.Violations {
		x.t.Logf("%s: fsck: %s %s %s", what, v.Invariant, v.Endpoint, v.What)
	}
	testenv.Eventually(x.t, 90*time.Second, what+": fsck is clean", func() bool {
		return proxyward(x.t, "fsck", "--config", x.config).code == 0
	})
	if n := x.eligible(); n != loadGood || report.Checked != loadGood+loadBad {
		x.t.Errorf("%s: %d eligible of %d endpoints", what, n, report.Checked)
	}
	x.unpunished(what)
	for _, n := range regexp.MustCompile(`late results refused[^\n]*"results":(\d+)`).FindAllStringSubmatch(x.daemon.err.String()[told:], -1) {
		late, _ := strconv.Atoi(n[1])
		f.late += late
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.strangers) > 0 {
		x.t.Errorf("%s: workers were given %v", what, x.strangers)
	}
	slices.Sort(x.commits)
	for i := range x.commits[1:] {
		f.pause = max(f.pause, time.Duration(x.commits[i+1]-x.commits[i])*time.Millisecond)
	}
	x.taken = append(x.taken, time.Now())
	slices.SortFunc(x.taken, time.Time.Compare)
	for i := range x.taken[1:] {
		f.workers = max(f.workers, x.taken[i+1].Sub(x.taken[i]))
	}
	x.t.Logf("FIGURE %s: longest pause %v, results refused %d, records to repair %d, longest pause of workers %v, who were told %v; this machine stalled for %v",
		what, f.pause, f.late, f.broken, f.workers.Round(time.Millisecond), x.refused, x.stall().Round(time.Millisecond))
	return f
}

// unpunished checks that no good endpoint has a mark.
func (x *load) unpunished(what string) {
	x.t.Helper()
	for _, line := range lines(ok(x.t, "endpoints", "--config", x.config, "--json")) {
		r := decode[struct {
			Endpoint, State string
			Classes         map[string]struct{ N int }
		}](x.t, line)
		good := x.index(r.Endpoint) < loadGood
		if good != (r.State == "eligible") || good && len(r.Classes) > 0 {
			x.t.Errorf("%s: %+v", what, r)
		}
	}
}
