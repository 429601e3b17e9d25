package e2e_test

import (
	"fmt"
	"net/http"
	"path/filepath"
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

const partitionYAML = `
redis: {url: "REDIS"}
admin: {listen: ""}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 4s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    recheck: 2s
    cooldown: {base: 1h, max: 24h}
    guard: {enabled: false}
`

const (
	partitionFarm  = 120
	partitionFail  = 40               // the first of them fail from the cut on
	partitionLease = 14 * time.Second // timeout and margin of partitionYAML
)

// parted is a pool with two daemons: one reaches Redis over a cable that can be hurt, the
// other one by a socket in the file system.
type parted struct {
	t               *testing.T
	farm            *testenv.Farm
	client          *redis.Client
	config          string // by the socket
	far, near       *daemon
	daemons, server *testenv.Network

	mu      sync.Mutex
	hold    chan struct{} // if not nil, proxies wait here before they answer
	failing bool
}

func newParted(t *testing.T) *parted {
	t.Helper()
	x := &parted{t: t}
	x.daemons, x.server = testenv.Networks(t)
	path, socket := testenv.Program(t, "redis-server"), filepath.Join(t.TempDir(), "redis.sock")
	testenv.StartBy(t, x.server.Begin, path, "--port", "6379", "--bind", x.server.Host, "--protected-mode", "no", "--unixsocket", socket,
		"--save", "", "--dir", t.TempDir())
	testenv.Eventually(t, 15*time.Second, "the socket is there", func() bool {
		found, _ := filepath.Glob(socket)
		return len(found) == 1
	})
	x.client = testenv.Client(t, "unix://"+socket+"?db=0")
	x.daemons.Inside(func() { x.farm = testenv.NewFarm(t, partitionFarm) })
	var list strings.Builder
	failing := map[string]bool{}
	for i := range partitionFarm {
		fmt.Fprintln(&list, x.farm.ID(i))
		failing[x.farm.Host(i)] = i < partitionFail
	}
	x.farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		x.mu.Lock()
		hold := x.hold
		x.mu.Unlock()
		if hold != nil {
			<-hold
		}
		x.mu.Lock()
		fails := x.failing && failing[proxy]
		x.mu.Unlock()
		if fails {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		testenv.Good(w, r, proxy)
	})
	file := file(t, "list", list.String())
	x.config = yaml(t, partitionYAML, "REDIS", "unix://"+socket+"?db=0", "LIST", file)
	x.far = startBy(t, x.daemons.Begin, "--config", yaml(t, partitionYAML, "REDIS", "redis://"+x.server.Host+":6379/0", "LIST", file))
	x.near = startBy(t, x.daemons.Begin, "--config", x.config)
	testenv.Eventually(t, 40*time.Second, "all are eligible, and both daemons work", func() bool {
		return x.client.ZCard(t.Context(), "proxyward:{c}:eligible").Val() == partitionFarm &&
			strings.Contains(x.far.err.String(), `"daemons":2`) && strings.Contains(x.near.err.String(), `"daemons":2`)
	})
	return x
}

// wait makes proxies wait before they answer, until release.
func (x *parted) wait() (release func()) {
	hold := make(chan struct{})
	x.mu.Lock()
	x.hold = hold
	x.mu.Unlock()
	release = sync.OnceFunc(func() {
		x.mu.Lock()
		x.hold, x.failing = nil, true
		x.mu.Unlock()
		close(hold)
	})
	x.t.Cleanup(release)
	return release
}

// told adds up a number in a daemon's log lines that have these words.
func told(text, words, field string) (sum int) {
	for _, m := range regexp.MustCompile(words+`[^\n]*"`+field+`":(\d+)`).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		sum += n
	}
	return sum
}

func TestRequestsArriveAndRepliesDoNot(t *testing.T) {
	t.Parallel()
	x := newParted(t)
	release := x.wait()
	testenv.Eventually(t, 10*time.Second, "most are being probed", func() bool {
		return x.client.ZCard(t.Context(), "proxyward:{c}:leases").Val() > partitionFarm*3/4
	})
	before := len(x.far.err.String())
	since := func() string { return x.far.err.String()[before:] }
	x.server.Lose(t)
	leased := x.tokens()
	release()
	cut := time.Now()
	testenv.Eventually(t, 15*time.Second, "the daemon notices", func() bool { return strings.Contains(since(), "redis is away") })
	stuck := x.still(leased) // these results have not arrived; those of the others have, and the daemon does not know
	time.Sleep(time.Until(cut.Add(partitionLease)))
	if strings.Contains(since(), "redis is back") {
		t.Error("it thinks that redis is back")
	}
	x.server.Heal(t)
	healed := time.Now()
	testenv.Eventually(t, 30*time.Second, "the daemon is back", func() bool { return strings.Contains(since(), "redis is back") })
	back := time.Since(healed)
	x.farm.Reset()
	unseen := make([]int, 0, partitionFarm)
	for i := partitionFail; i < partitionFarm; i++ {
		unseen = append(unseen, i)
	}
	testenv.Eventually(t, 40*time.Second, "every good one is probed again", func() bool {
		unseen = slices.DeleteFunc(unseen, func(i int) bool { return x.farm.HitsOf(x.farm.Host(i)) > 0 })
		return len(unseen) == 0
	})
	testenv.Eventually(t, 10*time.Second, "results without a reply come again, and are refused", func() bool { return told(since(), "late results refused", "results") > 0 })
	late, expired := told(since(), "late results refused", "results"), told(x.near.err.String()+since(), `"worked"`, "expired_leases")
	if n := x.still(leased); n > 0 || stuck > 0 && expired < stuck {
		t.Errorf("of %d leases %d expired, %d are still there", stuck, expired, n)
	}
	x.once()
	t.Logf("FIGURE replies lost for %v: the daemon cut off did nothing for %v (back %v after the healing), results refused %d, records to repair 0, leases expired %d",
		healed.Sub(cut).Round(time.Millisecond), (healed.Sub(cut) + back).Round(time.Millisecond), back.Round(time.Millisecond), late, expired)
}

// tokens are those of the live leases.
func (x *parted) tokens() map[string]string {
	return x.client.HGetAll(x.t.Context(), "proxyward:{c}:tokens").Val()
}

// still is how many of the leases are live.
func (x *parted) still(leases map[string]string) (n int) {
	now := x.tokens()
	for id, token := range leases {
		if now[id] == token {
			n++
		}
	}
	return n
}

// once checks that every endpoint moved as often as its proxy gave reason to, and no more.
func (x *parted) once() {
	x.t.Helper()
	moves := map[string]int{}
	for _, e := range x.client.XRange(x.t.Context(), "proxyward:{c}:events", "-", "+").Val() {
		moves[fmt.Sprint(e.Values["endpoint"], " ", e.Values["to"])]++
	}
	all := records(x.t, x.client)
	for i := range partitionFarm {
		id := x.farm.ID(i)
		r, eligible, cooling := all[id], moves[id+" eligible"], moves[id+" cooling"]
		switch {
		case i < partitionFail && (r.State != "cooling" || r.Classes["verify.http_status"].N != 1 || len(r.Classes) != 1 || eligible != 1 || cooling != 1):
			x.t.Errorf("%s failed once: %+v, moved into the set %d times, out %d times", id, r, eligible, cooling)
		case i >= partitionFail && (r.State != "eligible" || len(r.Classes) > 0 || eligible != 1 || cooling != 0):
			x.t.Errorf("%s never failed: %+v, moved into the set %d times, out %d times", id, r, eligible, cooling)
		}
	}
	if len(all) != partitionFarm {
		x.t.Errorf("%d endpoints, not %d", len(all), partitionFarm)
	}
	ok(x.t, "fsck", "--config", x.config)
}
