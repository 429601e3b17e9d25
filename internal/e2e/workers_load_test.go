package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	worker "proxyward/examples/go"
	"proxyward/internal/testenv"
)

const loadYAML = `
redis: {url: "REDIS"}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 3s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    recheck: 1s
    trickle: {per_tick: 20}
    cooldown: {base: 1s, factor: 1, jitter: 0}
`

// 16 workers, four of each language, make 100,000 allocations while 8 of 40 endpoints are
// ejected and return, again and again. What Redis saw is played back, command by command: no
// allocation is of one that is out, the scores are exactly the allocations made, and those
// who were in all the time are at any instant within one of each other.
func TestWorkersOfFourLanguagesShareAPoolThatChanges(t *testing.T) {
	t.Parallel()
	const n, flapping = 40, 8
	py, js := python(t, "redis"), node(t)
	testenv.Program(t, "redis-cli")
	url, farm := testenv.Redis(t), testenv.NewFarm(t, n)
	var list strings.Builder
	for i := range n {
		fmt.Fprintln(&list, farm.ID(i))
	}
	client := testenv.Client(t, url)
	seen := monitor(t, url)
	config := yaml(t, loadYAML, "REDIS", url, "LIST", file(t, "list", list.String()))
	start(t, "--config", config)
	start(t, "--config", config)
	eligible := func(k int64) bool { return client.ZCard(t.Context(), "proxyward:{c}:eligible").Val() == k }
	testenv.Eventually(t, 30*time.Second, "all eligible", func() bool { return eligible(n) })

	var sick atomic.Bool
	bad := map[string]bool{}
	for i := range flapping {
		bad[farm.Host(i)] = true
	}
	farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		if sick.Load() && bad[proxy] {
			testenv.Say(http.StatusForbidden)(w, r, proxy)
			return
		}
		testenv.Good(w, r, proxy)
	})
	var workers sync.WaitGroup
	var made, rounds atomic.Int64
	for range 4 {
		workers.Go(func() { made.Add(allocate(t, url, 37_000/4)) })
		for _, l := range []struct {
			kit, n  string
			command []string
		}{
			{"python", "8000", []string{py, "testdata/load/load.py"}},
			{"node", "7500", []string{js, "testdata/load/load.mjs"}},
			{"shell", "250", []string{"/bin/sh", "testdata/load/load.sh"}},
		} {
			workers.Go(func() {
				o := runFor(t, 10*time.Minute, []string{"REDIS_URL=" + url, "CHECK=c", "PROXYWARD_LUA=" + whole(t, "../../store/lua"), "KIT=" + whole(t, "../../examples/"+l.kit)},
					append(l.command, l.n)...)
				k, err := strconv.ParseInt(strings.TrimSpace(o.out), 10, 64)
				if err != nil || o.code != 0 {
					t.Errorf("%s: exit status %d\n%s%s", l.kit, o.code, o.out, o.err)
				}
				made.Add(k)
			})
		}
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	for over := false; !over; rounds.Add(1) {
		for _, want := range []struct {
			sick bool
			n    int64
		}{{true, n - flapping}, {false, n}} {
			sick.Store(want.sick)
			testenv.Eventually(t, 60*time.Second, fmt.Sprint(want.n, " eligible"), func() bool { return eligible(want.n) })
		}
		select {
		case <-done:
			over = true
		default:
		}
	}
	if made.Load() != 100_000 {
		t.Errorf("%d allocations made", made.Load())
	}
	ok(t, "fsck", "--config", config)
	client.Echo(t.Context(), "that is all")
	var stayed []string
	for i := flapping; i < n; i++ {
		stayed = append(stayed, farm.ID(i))
	}
	p := play(t, seen(), stayed)
	t.Logf("%d rounds, %d returns in between, raised by %v in all, spread %v", rounds.Load(), p.returns, p.raised, p.spread)
	if p.strangers > 0 {
		t.Errorf("%d allocations of members that were out", p.strangers)
	}
	if p.counted != 100_000 {
		t.Errorf("%d allocations counted", p.counted)
	}
	if p.returns < flapping {
		t.Errorf("%d returns while workers worked: the pool did not change enough", p.returns)
	}
	if p.spread > 1 {
		t.Errorf("the allocations of those who stayed are up to %v apart", p.spread)
	}
	sum := 0.0
	for _, z := range client.ZRangeWithScores(t.Context(), "proxyward:{c}:eligible", 0, -1).Val() {
		if p.score[z.Member.(string)] != z.Score {
			t.Errorf("%v has %v, played back %v", z.Member, z.Score, p.score[z.Member.(string)])
		}
		sum += z.Score
	}
	for id, raw := range client.HGetAll(t.Context(), "proxyward:{c}:endpoints").Val() {
		kept := decode[struct{ Allocations float64 }](t, raw).Allocations
		if _, in := p.score[id]; in && kept != 0 {
			t.Errorf("%s is in and keeps %v", id, kept)
		}
		sum += kept
	}
	if sum-p.raised != 100_000 {
		t.Errorf("scores and kept allocations are %v, of which %v are what members were raised by on their return", sum, p.raised)
	}
}

// allocate is the Go kit's part.
func allocate(t *testing.T, url string, n int64) (made int64) {
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Error(err)
		return 0
	}
	client := redis.NewClient(options)
	defer client.Close()
	pool, err := worker.New(client, os.DirFS("../../store/lua"), worker.Config{Check: "c"})
	if err != nil {
		t.Error(err)
		return 0
	}
	for made < n {
		lease, err := pool.Lease(t.Context())
		if err != nil || lease == nil {
			t.Errorf("lease: %v", err)
			return made
		}
		made++
	}
	return made
}

// whole is a path from the root.
func whole(t *testing.T, path string) string {
	t.Helper()
	all, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// monitor is every command that a server executes from now on, until ECHO "that is all".
func monitor(t *testing.T, url string) (seen func() []string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, "MONITOR\r\n")
	var all []string
	over := make(chan struct{})
	go func() {
		defer close(over)
		for in := bufio.NewScanner(conn); in.Scan(); {
			line := in.Text()
			if strings.Contains(line, `"that is all"`) {
				return
			}
			if strings.Contains(line, `" "proxyward:{c}:eligible" `) && strings.Contains(line, " lua] ") {
				all = append(all, line)
			}
		}
	}()
	return func() []string {
		select {
		case <-over:
		case <-time.After(time.Minute):
			t.Fatal("what Redis executed does not end")
		}
		return all
	}
}

// played is what the commands come to.
type played struct {
	score                       map[string]float64
	counted, strangers, returns int
	raised, spread              float64
}

func play(t *testing.T, seen, stayed []string) (p played) {
	t.Helper()
	p.score = map[string]float64{}
	left := map[string]float64{}
	for _, line := range seen {
		var w []string
		for i, word := range strings.Split(line, `"`) {
			if i%2 == 1 { // in quotes
				w = append(w, word)
			}
		}
		switch strings.ToLower(w[0]) {
		case "zincrby":
			if _, in := p.score[w[3]]; !in || w[2] != "1" {
				p.strangers++
			}
			p.score[w[3]]++
			p.counted++
			low, high := p.score[stayed[0]], p.score[stayed[0]]
			for _, id := range stayed {
				low, high = min(low, p.score[id]), max(high, p.score[id])
			}
			p.spread = max(p.spread, high-low)
		case "zadd":
			at, err := strconv.ParseFloat(w[2], 64)
			if err != nil || len(w) != 4 {
				t.Fatal("what is this? ", line)
			}
			if _, before := left[w[3]]; before && p.counted > 0 && p.counted < 100_000 {
				p.returns++
			}
			if at < left[w[3]] {
				t.Errorf("%s returned with %v of %v", w[3], at, left[w[3]])
			}
			p.raised += at - left[w[3]]
			p.score[w[3]] = at
		case "zrem":
			if at, in := p.score[w[2]]; in {
				left[w[2]] = at
				delete(p.score, w[2])
			}
		}
	}
	return p
}
