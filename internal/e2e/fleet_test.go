package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

const trickleYAML = `
redis: {url: "REDIS"}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 3s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    trickle: {per_tick: 5}
    cooldown: {base: 2s, jitter: 0}
`

func TestTwoDaemonsAdmitNoMoreThanTheTrickle(t *testing.T) {
	t.Parallel()
	const n = 60
	url, farm := testenv.Redis(t), testenv.NewFarm(t, n)
	farm.Answer(testenv.Say(http.StatusForbidden))
	var list strings.Builder
	for i := range n {
		fmt.Fprintln(&list, farm.ID(i))
	}
	config := yaml(t, trickleYAML, "REDIS", url, "LIST", file(t, "list", list.String()))
	client := testenv.Client(t, url)
	first := start(t, "--config", config)
	testenv.Eventually(t, 20*time.Second, "all cooling", func() bool {
		return client.ZCard(t.Context(), "proxyward:{c}:due:recovery").Val() == n
	})
	first.signal(15)
	if code := first.wait(10 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
	farm.Reset()
	stall := stalls(t)
	start(t, "--config", config)
	start(t, "--config", config)
	proxyward(t, "recheck", "--config", config, "--all")
	testenv.Eventually(t, 30*time.Second, "40 trials", func() bool { return len(farm.Hits()) >= 40 })
	hits := farm.Hits()
	slices.SortFunc(hits, time.Time.Compare)
	for i := 5; i < len(hits); i++ {
		if within := hits[i].Sub(hits[i-5]); within < 800*time.Millisecond-stall() {
			t.Errorf("trials %d to %d came within %v", i-5, i, within)
		}
	}
	var admitted []int64
	for _, e := range client.XRange(t.Context(), "proxyward:{c}:events", "-", "+").Val() {
		if e.Values["to"] == "permitted" {
			ms, _ := strconv.ParseInt(fmt.Sprint(e.Values["at_ms"]), 10, 64)
			admitted = append(admitted, ms)
		}
	}
	slices.Sort(admitted)
	for i := 5; i < len(admitted); i++ {
		if within := admitted[i] - admitted[i-5]; within < 1000 {
			t.Errorf("admissions %d to %d within %d ms", i-5, i, within)
		}
	}
	if len(admitted) < 40 {
		t.Errorf("%d admissions told", len(admitted))
	}
	ok(t, "fsck", "--config", config)
}

// stalls watches how long this machine lets a process wait that wants to run, at worst: by
// so much what a test sees may lie nearer together than it was.
func stalls(t *testing.T) (worst func() time.Duration) {
	var most atomic.Int64
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		const beat = 5 * time.Millisecond
		for last := time.Now(); ; last = time.Now() {
			select {
			case <-done:
				return
			case <-time.After(beat):
			}
			most.Store(max(most.Load(), int64(time.Since(last)-beat)))
		}
	}()
	t.Cleanup(func() { close(done); <-over })
	return func() time.Duration { return time.Duration(most.Load()) }
}

const flightYAML = `
redis: {url: "REDIS"}
checks:
  - name: c
    request: {url: TARGET, timeout: 20s, timeouts: {handshake: 20s}, tls: {ca_file: "CA"}}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST", refresh: "@every 1s"}]
`

// The probe in flight carries an old password, which the proxy refuses in the end; in the
// meantime the list gets the right one, loses the entry and has it again.
func TestAPasswordThatChangesAndAnEntryThatLeavesAndReturnsInMidProbe(t *testing.T) {
	t.Parallel()
	url, site, door := testenv.Redis(t), newTarget(t), newDoor(t)
	client := testenv.Client(t, url)
	others := ""
	for range 4 {
		others += "http://" + testenv.Nobody(t) + "\n"
	}
	list := file(t, "list", others+door.URL("old")+"\n")
	rewrite := func(text string) {
		t.Helper()
		if err := os.WriteFile(list+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(list+".new", list); err != nil {
			t.Fatal(err)
		}
	}
	config := yaml(t, flightYAML, "REDIS", url, "TARGET", site.HTTPS+"/good", "CA", site.CAFile, "LIST", list)
	id := door.ID()
	kept := func() string { return client.HGet(t.Context(), "proxyward:{c}:urls", id).Val() }
	door.Right("new")
	release := door.Hold()
	start(t, "--config", config)
	start(t, "--config", config)
	testenv.Eventually(t, 10*time.Second, "a probe in flight", func() bool { return len(door.Logins()) == 1 })

	rewrite(others + door.URL("new") + "\n")
	testenv.Eventually(t, 10*time.Second, "the new password is known", func() bool { return kept() == door.URL("new") })
	rewrite(others)
	testenv.Eventually(t, 10*time.Second, "retired", func() bool { return explain(t, config, id).Record.State == "disabled" })
	rewrite(others + door.URL("new") + "\n")
	testenv.Eventually(t, 10*time.Second, "listed again", func() bool { return explain(t, config, id).Record.State == "candidate" })
	ok(t, "recheck", "--config", config, id)
	ok(t, "disable", "--config", config, "--note", "seen by ann", id)
	time.Sleep(2500 * time.Millisecond) // two ticks of both
	if n := len(door.Logins()); n != 1 {
		t.Errorf("%d probes begun while the first was in flight", n)
	}
	release()
	testenv.Eventually(t, 10*time.Second, "the lease is over", func() bool {
		return client.ZScore(t.Context(), "proxyward:{c}:leases", id).Err() != nil
	})
	if r := explain(t, config, id).Record; r.State != "disabled" || r.Note != "seen by ann" || len(r.Sources) != 1 {
		t.Errorf("after the commit: %+v", r)
	}
	ok(t, "enable", "--config", config, id)
	testenv.Eventually(t, 10*time.Second, "eligible by the new password", func() bool { return explain(t, config, id).Record.State == "eligible" })
	if logins := door.Logins(); logins[len(logins)-1] != "new" || slices.Contains(logins[1:], "old") || door.Most() != 1 {
		t.Errorf("passwords %q, %d at once", logins, door.Most())
	}
	ok(t, "fsck", "--config", config)
}

func TestARefusalOfTheOldPasswordSaysNothingOfTheNewOne(t *testing.T) {
	t.Parallel()
	url, site, door := testenv.Redis(t), newTarget(t), newDoor(t)
	client := testenv.Client(t, url)
	list := file(t, "list", door.URL("old")+"\n")
	config := yaml(t, flightYAML, "REDIS", url, "TARGET", site.HTTPS+"/good", "CA", site.CAFile, "LIST", list)
	door.Right("new")
	release := door.Hold()
	start(t, "--config", config)
	start(t, "--config", config)
	testenv.Eventually(t, 10*time.Second, "a probe in flight", func() bool { return len(door.Logins()) == 1 })
	if err := os.WriteFile(list, []byte(door.URL("new")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "the new password is known", func() bool {
		return client.HGet(t.Context(), "proxyward:{c}:urls", door.ID()).Val() == door.URL("new")
	})
	release()
	testenv.Eventually(t, 15*time.Second, "eligible by the new password", func() bool {
		return explain(t, config, door.ID()).Record.State == "eligible"
	})
	if r := explain(t, config, door.ID()).Record; len(r.Classes) > 0 || door.Most() != 1 {
		t.Errorf("%+v, %d probes at once", r, door.Most())
	}
}
