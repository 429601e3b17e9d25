package e2e_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
)

const killedYAML = `
redis: {url: "REDIS"}
admin: {listen: ""}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 15s, timeouts: {first_byte: 15s}}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    recheck: 5s
    limits: {concurrency: 3}
    cooldown: {base: 1h, max: 24h, reasons: {verify: {base: 2h}}}
`

// kept is what a kill must leave as it was in a record.
type kept struct {
	State, Stage, Reason, Note string
	PauseMs                    int64 `json:"pause_ms"`
	UntilMs                    int64 `json:"until_ms"`
	Allocations                int64
	Classes                    map[string]struct{ N int }
	Holds, Sources             []string
}

// records are all records of the pool, as they stand in Redis.
func records(t *testing.T, c *redis.Client) map[string]kept {
	t.Helper()
	raw, err := c.HGetAll(t.Context(), "proxyward:{c}:endpoints").Result()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]kept{}
	for id, text := range raw {
		all[id] = decode[kept](t, text)
	}
	return all
}

func members(t *testing.T, c *redis.Client) map[string]float64 {
	t.Helper()
	list, err := c.ZRangeWithScores(t.Context(), "proxyward:{c}:eligible", 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, z := range list {
		all[z.Member.(string)] = z.Score
	}
	return all
}

// 40 endpoints answer slowly, 10 cool and hang when tried, 5 are disabled, 5 are new and hang.
// The daemon is killed 20 times with probes of all these kinds in flight.
func TestKilledInMidProbe20Times(t *testing.T) {
	t.Parallel()
	url, farm := testenv.Redis(t), testenv.NewFarm(t, 60)
	client := testenv.Client(t, url)
	var list, later strings.Builder
	kind := map[string]string{}
	for i := range 60 {
		kind[farm.Host(i)] = "good"
		if i >= 40 {
			kind[farm.Host(i)] = []string{"cooling", "cooling", "disabled", "hanging"}[i%4]
		}
		if kind[farm.Host(i)] == "hanging" {
			fmt.Fprintln(&later, farm.ID(i))
		} else {
			fmt.Fprintln(&list, farm.ID(i))
		}
	}
	var trying atomic.Bool
	healed := make(chan struct{})
	farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		switch k := kind[proxy]; {
		case k == "hanging", k == "cooling" && trying.Load():
			select {
			case <-healed:
			case <-r.Context().Done():
			}
		case k == "cooling":
			w.WriteHeader(http.StatusForbidden)
			return
		}
		rest(r, 150*time.Millisecond)
		testenv.Good(w, r, proxy)
	})
	config := yaml(t, killedYAML, "REDIS", url, "LIST", file(t, "list", list.String()))
	d := start(t, "--config", config)
	testenv.Eventually(t, 30*time.Second, "45 eligible, 10 cooling", func() bool {
		now := map[string]int{}
		for _, r := range records(t, client) {
			now[r.State]++
		}
		return now["eligible"] == 45 && now["cooling"] == 10
	})
	args := []string{"disable", "--config", config, "--note", "not these"}
	for i := 42; i < 60; i += 4 {
		args = append(args, farm.ID(i))
	}
	ok(t, args...)
	for range 7 {
		ok(t, "allocate", "--config", config)
	}
	trying.Store(true)
	ok(t, "import", "--config", config, file(t, "later", later.String()))
	before, set := records(t, client), members(t, client)
	if len(before) != 60 || len(set) != 40 {
		t.Fatal(len(before), "records,", len(set), "eligible")
	}
	unchanged := func(when string) {
		t.Helper()
		if o := proxyward(t, "fsck", "--config", config); o.code != 0 {
			t.Errorf("%s: %s%s", when, o.out, o.err)
		}
		for id, now := range records(t, client) {
			if !reflect.DeepEqual(now, before[id]) {
				t.Errorf("%s: %s was %+v, is %+v", when, id, before[id], now)
			}
		}
		if n := len(records(t, client)); n != 60 {
			t.Errorf("%s: %d endpoints", when, n)
		}
		if now := members(t, client); !maps.Equal(now, set) {
			t.Errorf("%s: the set was %v, is %v", when, set, now)
		}
	}
	flying := func() int64 { return client.ZCard(t.Context(), "proxyward:{c}:leases").Val() }
	inFlight := map[string]int{} // at the kills, by kind
	for n := range 20 {
		farm.Reset()
		proxyward(t, "recheck", "--config", config, "--state", "cooling") // none cools: all are on trial
		if n == 3 {
			ok(t, "recheck", "--config", config, "--state", "candidate")
		}
		testenv.Eventually(t, 40*time.Second, "a probe in flight", func() bool { return len(farm.Hits()) > 0 && flying() > 0 })
		time.Sleep(rand.N(400 * time.Millisecond)) // any moment of a probe or a commit
		d.kill()
		for i := range 60 {
			inFlight[kind[farm.Host(i)]] += farm.HitsOf(farm.Host(i))
		}
		if unchanged(fmt.Sprintf("after kill %d", n+1)); t.Failed() {
			return
		}
		d = start(t, "--config", config)
	}
	if inFlight["good"] == 0 || inFlight["cooling"] == 0 || inFlight["hanging"] == 0 {
		t.Errorf("probes begun before the kills: %v", inFlight)
	}
	unchanged("after the last restart")
	ended := time.Now().UnixMilli()
	close(healed)
	testenv.Eventually(t, 60*time.Second, "everyone is probed again, and eligible", func() bool {
		again := 0
		for _, line := range lines(ok(t, "endpoints", "--config", config, "--state", "eligible", "--json")) {
			if decode[struct {
				LastProbeMs int64 `json:"last_probe_ms"`
			}](t, line).LastProbeMs >= ended {
				again++
			}
		}
		return again == 55
	})
	d.signal(15)
	if code := d.wait(20 * time.Second); code != 0 {
		t.Errorf("exit status %d after SIGTERM", code)
	}
	if n := flying(); n > 0 {
		t.Errorf("%d leases left", n)
	}
}
