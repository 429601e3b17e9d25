package scheduler_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"proxyward/internal/testenv"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// watched starts a daemon and gives what it says from warnings on.
func watched(t *testing.T, url string, c scheduler.Check) *observer.ObservedLogs {
	t.Helper()
	_, logs := watchedDaemon(t, url, c)
	return logs
}

func watchedDaemon(t *testing.T, url string, c scheduler.Check) (*scheduler.Daemon, *observer.ObservedLogs) {
	t.Helper()
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zapcore.InfoLevel)
	d := scheduler.NewDaemon(scheduler.Options{Store: s, Prober: prober.New(64), Checks: []scheduler.Check{c}, Log: zap.New(core)})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return d, logs
}

// loud are warnings and errors.
func loud(logs *observer.ObservedLogs) *observer.ObservedLogs {
	return logs.Filter(func(e observer.LoggedEntry) bool { return e.Level >= zapcore.WarnLevel })
}

func key(part string) string { return "proxyward:{c}:" + part }

func TestDaemonsMendWhatIsBrokenWithinAMinute(t *testing.T) {
	t.Parallel()
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p, raw, farm := openPool(t, url), testenv.Client(t, url), testenv.NewFarm(t, 8)
		farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
			if proxy == farm.Host(0) {
				http.Error(w, "blocked", http.StatusForbidden)
				return
			}
			testenv.Good(w, r, proxy)
		})
		enroll(t, p, farm, 8)
		c := testCheck(t)
		logs := watched(t, url, c)
		watched(t, url, c) // a second one
		testenv.Eventually(t, 20*time.Second, "7 eligible, 1 cooling", func() bool {
			s := states(t, p)
			return s[record.Eligible] == 7 && s[record.Cooling] == 1
		})
		ctx := t.Context()
		testenv.Eventually(t, 20*time.Second, "the first sweep", func() bool { return raw.HExists(ctx, key("meta"), "refresh:repair").Val() })
		testenv.Eventually(t, 20*time.Second, "it is over: the next one begins half a minute after it", ticksPassed(t, p, 3000))
		raw.ZIncrBy(ctx, key("eligible"), 1, farm.ID(0))                           // a worker that breaks the rules
		raw.ZIncrBy(ctx, key("eligible"), 1, "http://203.0.113.9:1")               // another, about nobody
		raw.ZRem(ctx, key("due:recheck"), farm.ID(1))                              // it would never be probed again
		raw.HSet(ctx, key("endpoints"), farm.ID(2), `{"state":"eligi`)             // unreadable
		raw.ZRem(ctx, key("eligible"), farm.ID(3))                                 // no worker would get it
		raw.ZAdd(ctx, key("due:candidate"), redis.Z{Score: 1, Member: farm.ID(4)}) // in two lanes
		raw.HIncrBy(ctx, key("counts"), "eligible", 5)
		began := time.Now()
		testenv.Eventually(t, time.Minute, "mended", func() bool {
			r, err := p.Fsck(ctx)
			return err == nil && len(r.Violations) == 0
		})
		t.Logf("mended after %v", time.Since(began).Round(time.Second))
		testenv.Eventually(t, 20*time.Second, "all judged again", func() bool {
			s := states(t, p)
			return s[record.Eligible] == 7 && s[record.Cooling] == 1
		})
		counts, err := p.Repaired(ctx)
		if err != nil || counts["I1"] < 2 || counts["I2"] < 3 || counts["I4"] < 1 {
			t.Errorf("mended %v, %v", counts, err)
		}
		events, _, err := p.Events(ctx, "0", 1000)
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]bool{}
		for _, e := range events {
			told[e["endpoint"]] = told[e["endpoint"]] || e["by"] == "repair"
		}
		for i := range 4 { // who stood in two lanes can have been claimed from one and committed to the other
			if !told[farm.ID(i)] {
				t.Errorf("no event says that endpoint %d was mended", i)
			}
		}
		if lines := logs.FilterMessageSnippet("mended the pool").All(); len(lines) > 5 {
			t.Errorf("told %d times: %v", len(lines), lines)
		}
	})
}

func TestAnOlderDaemonStandsBy(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, raw, farm := openPool(t, url), testenv.Client(t, url), testenv.NewFarm(t, 3)
	enroll(t, p, farm, 3)
	c := testCheck(t)
	c.Policy.Recheck = time.Second
	logs := watched(t, url, c)
	testenv.Eventually(t, 20*time.Second, "3 eligible", func() bool { return states(t, p)[record.Eligible] == 3 })
	if got := raw.HGet(t.Context(), key("meta"), "schema").Val(); got != fmt.Sprint(store.Schema) {
		t.Errorf("a pool that was there before gets schema %q", got)
	}
	raw.HSet(t.Context(), key("meta"), "schema", store.Schema+1)
	testenv.Eventually(t, 30*time.Second, "told", func() bool { return logs.FilterMessageSnippet("stands by").Len() == 1 })
	farm.Reset()
	testenv.Eventually(t, 20*time.Second, "12 s", ticksPassed(t, p, 12_000))
	if n := len(farm.Hits()); n > 0 {
		t.Errorf("it probed %d times", n)
	}
	if n := loud(logs).Len(); n != 1 {
		t.Errorf("told %d things: %v", n, logs.All())
	}
	raw.HSet(t.Context(), key("meta"), "schema", store.Schema)
	testenv.Eventually(t, 30*time.Second, "probes again", func() bool { return len(farm.Hits()) > 0 })
	sound(t, p)
}

func TestALostPoolIsBuiltAnewFromItsLists(t *testing.T) {
	t.Parallel()
	list, c, p, farm, url := refreshed(t)
	c.Sources[0].Refresh = "@every 1h" // it is read again since the pool was lost, not since it is time
	raw := testenv.Client(t, url)
	held, answer := make(chan struct{}, 1), make(chan struct{})
	var hold atomic.Bool
	farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		if proxy == farm.Host(0) && hold.CompareAndSwap(true, false) {
			held <- struct{}{}
			<-answer
			http.Error(w, "too late to count", http.StatusForbidden)
			return
		}
		testenv.Good(w, r, proxy)
	})
	writeList(t, list, listed(farm, 0, 8)...)
	logs := watched(t, url, c)
	testenv.Eventually(t, 20*time.Second, "8 eligible", func() bool { return states(t, p)[record.Eligible] == 8 })
	raw.HIncrBy(t.Context(), key("clock"), "offset", 3600_000) // a pool whose time is ahead of redis's
	raw.HIncrBy(t.Context(), key("clock"), "high", 3600_000)
	hold.Store(true)
	if _, err := p.Recheck(t.Context(), 0, []string{farm.ID(0)}); err != nil {
		t.Fatal(err)
	}
	<-held
	raw.FlushAll(t.Context())
	testenv.Eventually(t, 30*time.Second, "8 eligible again", func() bool {
		close2(answer)
		return states(t, p)[record.Eligible] == 8
	})
	if logs.FilterMessageSnippet("the pool was lost").Len() != 1 {
		t.Errorf("told %v", logs.All())
	}
	now, err := p.Time(t.Context())
	if e := look(t, p, farm.ID(0)); err != nil || e.Record.Reason != "" || e.Record.SinceMs > now {
		t.Errorf("the late result counted, or is of the future: %s %v", e.Raw, err)
	}
	sound(t, p)
}

// close2 closes a channel unless that was done.
func close2(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

func TestALostPoolWithoutAListIsSaidToBeLost(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, raw, farm := openPool(t, url), testenv.Client(t, url), testenv.NewFarm(t, 2)
	enroll(t, p, farm, 2)
	logs := watched(t, url, testCheck(t))
	testenv.Eventually(t, 20*time.Second, "2 eligible", func() bool { return states(t, p)[record.Eligible] == 2 })
	raw.FlushAll(t.Context())
	testenv.Eventually(t, 20*time.Second, "told", func() bool { return logs.FilterMessageSnippet("has no list to build it from").Len() == 1 })
	if what := fmt.Sprint(loud(logs).All()[0].ContextMap()["what to do"]); !strings.Contains(what, "import --state") {
		t.Errorf("what to do: %s", what)
	}
	sound(t, p)
}
