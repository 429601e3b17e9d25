package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
)

const lotYAML = `
redis: {url: "REDIS"}
admin: {listen: ""}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 4s, timeouts: {first_byte: 4s}}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    recheck: 1s
    confirm: 1s
    trickle: {per_tick: 3, max_per_tick: 3}
    cooldown: {base: 2s, max: 5s, jitter: 0}
`

// lot is a pool at work: good proxies that are probed every second, and bad ones that never
// pass and are tried through the trickle. A healthy proxy that is punished, an endpoint that
// is lost and two probes at once are faults, whatever happens meanwhile.
type lot struct {
	*testing.T
	farm      *testenv.Farm
	client    *redis.Client // behind the daemons' back
	config    string
	refuses   map[string]bool // addresses of the bad ones
	good, bad int
	repairs   bool // some are expected
}

func newLot(t *testing.T, url string, good, bad int, more ...string) *lot {
	t.Helper()
	l := &lot{T: t, farm: testenv.NewFarm(t, good+bad), client: testenv.Client(t, url), refuses: map[string]bool{}, good: good, bad: bad}
	for i := range bad {
		l.refuses[l.farm.Host(good+i)] = true
	}
	l.farm.Answer(l.answer)
	l.config = yaml(t, lotYAML, append(more, "REDIS", url, "LIST", file(t, "list", l.list()))...)
	return l
}

// answer is what the proxies do, after a moment.
func (l *lot) answer(w http.ResponseWriter, r *http.Request, proxy string) {
	switch {
	case !rest(r, 10*time.Millisecond+rand.N(30*time.Millisecond)):
	case l.refuses[proxy]:
		w.WriteHeader(http.StatusForbidden)
	default:
		testenv.Good(w, r, proxy)
	}
}

func (l *lot) list() string {
	var b strings.Builder
	for i := range l.good + l.bad {
		fmt.Fprintln(&b, l.farm.ID(i))
	}
	return b.String()
}

// past is the part of a record that tells what became of an endpoint.
type past struct {
	State   string
	History []struct{ From, To, By string }
}

// ready waits until everyone has been judged.
func (l *lot) ready(what string) {
	l.Helper()
	testenv.Eventually(l.T, time.Minute, what, func() bool {
		raw, err := l.client.HGetAll(l.Context(), "proxyward:{c}:endpoints").Result()
		judged := 0
		for id, text := range raw {
			if state := decode[past](l.T, text).State; state == "eligible" && !l.isBad(id) || state == "cooling" && l.isBad(id) {
				judged++
			}
		}
		return err == nil && judged == l.good+l.bad
	})
}

func (l *lot) isBad(id string) bool {
	for i := range l.bad {
		if l.farm.ID(l.good+i) == id {
			return true
		}
	}
	return false
}

// sound: nobody is lost, fsck finds nothing, no healthy proxy was ever punished, and none was
// asked for two pages at once.
func (l *lot) sound(when string) {
	l.Helper()
	raw, err := l.client.HGetAll(l.Context(), "proxyward:{c}:endpoints").Result()
	if err != nil {
		l.Fatal(when, err)
	}
	if len(raw) != l.good+l.bad {
		l.Errorf("%s: %d endpoints of %d", when, len(raw), l.good+l.bad)
	}
	for id, text := range raw {
		for _, step := range decode[past](l.T, text).History {
			if step.To == "cooling" && !l.isBad(id) {
				l.Errorf("%s: a healthy proxy was punished: %s", when, text)
			}
			if step.To == "eligible" && l.isBad(id) {
				l.Errorf("%s: eligible without a pass: %s", when, text)
			}
		}
	}
	if o := proxyward(l.T, "fsck", "--config", l.config); o.code != 0 {
		l.Errorf("%s: %s%s", when, o.out, o.err)
	}
}

// onceAtATime: no proxy was asked while it still answered.
func (l *lot) onceAtATime() {
	l.Helper()
	if twice := l.farm.Overlaps(); len(twice) > 0 {
		l.Errorf("two probes at once: %v", twice)
	}
}

// trickled: no more trials within any second than the trickle has, in the pool's own words and
// as the bad proxies saw it, with 200 ms of slack and what this machine was late.
func (l *lot) trickled(allowed int, late time.Duration) {
	l.Helper()
	var admitted []int64
	for _, e := range l.client.XRange(l.Context(), "proxyward:{c}:events", "-", "+").Val() {
		if e.Values["to"] == "permitted" {
			ms, _ := strconv.ParseInt(fmt.Sprint(e.Values["at_ms"]), 10, 64)
			admitted = append(admitted, ms)
		}
	}
	slices.Sort(admitted)
	for i := allowed; i < len(admitted); i++ {
		if within := admitted[i] - admitted[i-allowed]; within < 1000 {
			l.Errorf("%d admissions within %d ms", allowed+1, within)
		}
	}
	var tried []time.Time
	for i := range l.bad {
		tried = append(tried, l.farm.HitsAt(l.farm.Host(l.good+i))...)
	}
	slices.SortFunc(tried, time.Time.Compare)
	for i := allowed; i < len(tried); i++ {
		if within := tried[i].Sub(tried[i-allowed]); within < 800*time.Millisecond-late {
			l.Errorf("%d trials within %v", allowed+1, within)
		}
	}
	if len(admitted) == 0 || len(tried) == 0 {
		l.Errorf("%d admissions, %d trials", len(admitted), len(tried))
	}
}

// lastCommit is the pool time of the last commit; 0 while Redis does not answer.
func (l *lot) lastCommit() int64 {
	ctx, cancel := context.WithTimeout(l.Context(), time.Second)
	defer cancel()
	ms, _ := l.client.HGet(ctx, "proxyward:{c}:meta", "last_commit_ms").Int64()
	return ms
}

// pauses watches the commits; the function it returns ends that and tells the longest time
// that passed between two of them.
func (l *lot) pauses() (longest func() time.Duration) {
	stop, done := make(chan struct{}), make(chan time.Duration)
	go func() {
		last, at, most := l.lastCommit(), time.Now(), time.Duration(0)
		for {
			select {
			case <-stop:
				done <- max(most, time.Since(at))
				return
			case <-time.After(10 * time.Millisecond):
			}
			if now := l.lastCommit(); now != 0 && now != last {
				most, last, at = max(most, time.Since(at)), now, time.Now()
			}
		}
	}()
	return func() time.Duration { close(stop); return (<-done).Round(100 * time.Millisecond) }
}

// workers take proxies all the time, through the script that workers use; the function it
// returns ends that and tells how many they got. A bad proxy must never be given to them.
func (l *lot) workers() (taken func() int64) {
	l.Helper()
	text, err := os.ReadFile("../../store/lua/allocate.lua")
	if err != nil {
		l.Fatal(err)
	}
	script := redis.NewScript(string(text))
	var got atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			id, err := script.Run(ctx, l.client, []string{"proxyward:{c}:eligible"}).Text()
			cancel()
			if err != nil {
				continue
			}
			if got.Add(1); l.isBad(id) {
				l.Errorf("a worker was given %s", id)
			}
		}
	}()
	return func() int64 { close(stop); <-done; return got.Load() }
}

// figures writes what docs/reliability.md tells, and gives the refused results.
func (l *lot) figures(what string, pause time.Duration, daemons ...*daemon) (refused int) {
	l.Helper()
	for _, d := range daemons {
		refused += d.sum("late results refused", "results")
	}
	repaired := int64(0)
	meta, err := l.client.HGetAll(l.Context(), "proxyward:{c}:meta").Result()
	if err != nil {
		l.Fatal(err)
	}
	for field, n := range meta {
		if strings.HasPrefix(field, "repaired:") {
			count, _ := strconv.ParseInt(n, 10, 64)
			repaired += count
		}
	}
	l.Logf("FIGURES | %s | longest pause %v | results refused %d | records repaired %d", what, pause, refused, repaired)
	if repaired > 0 && !l.repairs {
		l.Errorf("%s: %d records had to be repaired", what, repaired)
	}
	return refused
}

// said are the lines of the daemon's log that contain some words.
func (d *daemon) said(words string) (found []map[string]any) {
	for line := range strings.Lines(d.err.String()) {
		if strings.Contains(line, words) {
			fields := map[string]any{}
			if json.Unmarshal([]byte(line), &fields) == nil {
				found = append(found, fields)
			}
		}
	}
	return found
}

// sum adds up a number in those lines.
func (d *daemon) sum(words, field string) (sum int) {
	for _, fields := range d.said(words) {
		n, _ := fields[field].(float64)
		sum += int(n)
	}
	return sum
}
