package e2e_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
)

const outageYAML = `
redis: {url: "REDIS"}
admin: {listen: "127.0.0.1:0"}
prober: {concurrency: 2000}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 1s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    recheck: RECHECK
    confirm: 1s
    limits: {rate: 2000/s, concurrency: 2000}
    trickle: {per_tick: 5, max_per_tick: 400}
    cooldown: {base: 5m}
`

// drill is a pool whose proxies all work, with one daemon on it.
type drill struct {
	*daemon
	t       *testing.T
	n       int
	recheck time.Duration
	farm    *testenv.Farm
	client  *redis.Client
	config  string
}

func newDrill(t *testing.T, n int) *drill {
	t.Helper()
	d := &drill{t: t, n: n, recheck: 4 * time.Second, farm: testenv.NewFarm(t, n)}
	if n > 1000 {
		d.recheck = 10 * time.Second
	}
	var list strings.Builder
	for i := range n {
		fmt.Fprintln(&list, d.farm.ID(i))
	}
	url := testenv.Redis(t)
	d.client = testenv.Client(t, url)
	d.config = yaml(t, outageYAML, "REDIS", url, "LIST", file(t, "list", list.String()), "RECHECK", d.recheck.String())
	d.daemon = start(t, "--config", d.config)
	d.until(60*time.Second, "everybody eligible", func() bool { return d.eligible() == n })
	return d
}

func (d *drill) until(within time.Duration, what string, is func() bool) time.Duration {
	d.t.Helper()
	began := time.Now()
	testenv.Eventually(d.t, within, what, is)
	return time.Since(began)
}

func (d *drill) eligible() int {
	return int(d.client.ZCard(d.t.Context(), "proxyward:{c}:eligible").Val())
}

// opened is the pool time since which the guard is open; 0: it is closed.
func (d *drill) opened() int64 {
	ms, _ := strconv.ParseInt(d.client.HGet(d.t.Context(), "proxyward:{c}:meta", "guard_ms").Val(), 10, 64)
	return ms
}

// failing are the ways in which it is not the proxies' fault.
var failing = []struct {
	name        string
	begin, stop func(d *drill)
}{
	{"the target refuses", func(d *drill) { d.farm.Answer(squidRefused) }, func(d *drill) { d.farm.Answer(testenv.Good) }},
	{"the target answers 503", func(d *drill) { d.farm.Answer(testenv.Say(http.StatusServiceUnavailable)) }, func(d *drill) { d.farm.Answer(testenv.Good) }},
	{"the target is a black hole", func(d *drill) { d.farm.Answer(silence) }, func(d *drill) { d.farm.Answer(testenv.Good) }},
	{"our uplink is cut", func(d *drill) { d.farm.Cut(d.t) }, func(d *drill) { d.farm.Mend(d.t) }},
}

// squidRefused is what squid answers when the target refuses the connection.
func squidRefused(w http.ResponseWriter, _ *http.Request, _ string) {
	w.Header().Set("X-Squid-Error", "ERR_CONNECT_FAIL 111")
	w.Header().Set("Via", "1.1 gate (squid/5.7)")
	http.Error(w, "connection refused", http.StatusServiceUnavailable)
}

func silence(_ http.ResponseWriter, r *http.Request, _ string) { rest(r, time.Minute) }

// Nobody is out any more ten seconds after the guard opened, and it opens within two
// recheck intervals; it closes by itself, and then failures count again.
func TestAnOutageDoesNotEmptyThePool(t *testing.T) {
	for _, n := range []int{10, 100, 2000} {
		for _, f := range failing {
			t.Run(fmt.Sprintf("%d endpoints, %s", n, f.name), func(t *testing.T) {
				if n < 1000 {
					t.Parallel()
				}
				d := newDrill(t, n)
				f.begin(d)
				opened := d.until(2*d.recheck+time.Second, "the guard is open", func() bool { return d.opened() > 0 })
				back := d.until(10*time.Second, "nobody is out", func() bool { return d.eligible() == n })
				if out := d.client.ZCard(t.Context(), "proxyward:{c}:due:recovery").Val(); out != 0 {
					t.Errorf("%d still cool", out)
				}
				f.stop(d)
				closed := d.until(3*d.recheck, "the guard is closed", func() bool { return d.opened() == 0 })
				if d.eligible() != n {
					t.Errorf("%d eligible after the outage", d.eligible())
				}
				d.told(1)
				t.Logf("figures: opened after %.1f s, all back %.1f s later, closed %.1f s after the outage ended (recheck %v)",
					opened.Seconds(), back.Seconds(), closed.Seconds(), d.recheck)
				ok(t, "fsck", "--config", d.config)
			})
		}
	}
}

// told checks that each opening is one event that says why, and each closing too.
func (d *drill) told(times int) {
	d.t.Helper()
	opened, closed := 0, 0
	for _, e := range d.client.XRange(d.t.Context(), "proxyward:{c}:events", "-", "+").Val() {
		switch {
		case e.Values["by"] != "guard" || e.Values["endpoint"] != "*":
		case e.Values["detail"] == "" || e.Values["at_ms"] == "":
			d.t.Errorf("an event without a reason or a time: %v", e.Values)
		case e.Values["to"] == "open":
			opened++
		case e.Values["to"] == "closed":
			closed++
		}
	}
	if opened != times || closed != times {
		d.t.Errorf("told %d openings and %d closings, want %d of each", opened, closed, times)
	}
}

// Two of five proxies die at once: that is their own affair.
func TestProxiesThatDieTogetherDoNotOpenTheGuard(t *testing.T) {
	for _, n := range []int{10, 100, 2000} {
		t.Run(fmt.Sprint(n, " endpoints"), func(t *testing.T) {
			if n < 1000 {
				t.Parallel()
			}
			d := newDrill(t, n)
			d.farm.Close(n * 2 / 5)
			out := d.until(2*d.recheck+2*time.Second, "the dead are out", func() bool {
				if d.opened() > 0 {
					t.Fatal("the guard opened")
				}
				return d.eligible() == n-n*2/5
			})
			t.Logf("figures: out after %.1f s (recheck %v)", out.Seconds(), d.recheck)
			d.told(0)
			ok(t, "fsck", "--config", d.config)
		})
	}
}
