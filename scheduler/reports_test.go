package scheduler_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// worker writes reports as workers do.
type worker struct {
	t    *testing.T
	raw  *redis.Client
	name string
	ms   int // its own clock
}

func newWorker(t *testing.T, url, name string) *worker {
	return &worker{t, testenv.Client(t, url), name, 0}
}

const stream = "proxyward:{c}:reports"

func (w *worker) says(endpoint, outcome string) {
	w.t.Helper()
	w.ms++
	w.at(endpoint, outcome, w.ms)
}

func (w *worker) at(endpoint, outcome string, ms int) {
	w.t.Helper()
	text, err := os.ReadFile("../store/lua/report.lua")
	if err != nil {
		w.t.Fatal(err)
	}
	if err := redis.NewScript(string(text)).Run(w.t.Context(), w.raw, []string{stream}, endpoint, outcome, "connect", "refused", w.name, ms).Err(); err != nil {
		w.t.Fatal(err)
	}
}

func reported(t *testing.T, p *store.Pool) map[string]int64 {
	t.Helper()
	counts, err := p.ReportCounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// reportCheck is a check that rechecks so seldom that only reports can have it done.
func reportCheck(t *testing.T) scheduler.Check {
	c := testCheck(t)
	c.Policy.Recheck = time.Hour
	c.Policy.Cooldown.Base = time.Hour
	c.Policy.Cooldown.Max = time.Hour
	c.Reports = scheduler.Reports{SuspectAfter: 3, Within: time.Minute, DistinctWorkers: 1, Stretch: 1}
	return c
}

// eligibles starts a daemon on n proxies and waits until all are eligible.
func eligibles(t *testing.T, url string, c scheduler.Check, n int) (*store.Pool, *testenv.Farm) {
	t.Helper()
	p, farm := openPool(t, url), testenv.NewFarm(t, n)
	enroll(t, p, farm, n)
	startDaemon(t, url, c)
	testenv.Eventually(t, 20*time.Second, "all are eligible", func() bool { return states(t, p)[record.Eligible] == int64(n) })
	farm.Reset()
	return p, farm
}

func TestReportsOfADeadProxyHaveItProbedAndOutLongBeforeItsRecheck(t *testing.T) {
	t.Parallel()
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p, farm := eligibles(t, url, reportCheck(t), 8)
		farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
			if proxy == farm.Host(0) {
				panic(http.ErrAbortHandler)
			}
			testenv.Good(w, r, proxy)
		})
		w := newWorker(t, url, "w")
		w.says(farm.ID(0), "failed")
		w.says(farm.ID(0), "failed")
		testenv.Eventually(t, 10*time.Second, "both are applied", func() bool { return reported(t, p)["applied"] == 2 })
		if farm.HitsOf(farm.Host(0)) != 0 {
			t.Fatal("probed after two reports")
		}
		w.says(farm.ID(0), "failed")
		testenv.Eventually(t, 10*time.Second, "out", func() bool { return look(t, p, farm.ID(0)).Record.State == record.Cooling })
		if e := look(t, p, farm.ID(0)); e.Member || e.Record.By != record.ByProbe || e.Record.Reason == "refused" {
			t.Errorf("a report's words, not the probe's: %s", e.Raw)
		}
		events, _, err := p.Events(t.Context(), "0", 1000)
		if err != nil || !slices.ContainsFunc(events, func(e map[string]string) bool {
			return e["by"] == "report" && e["endpoint"] == farm.ID(0) && e["detail"] == "3 bad reports by 1 worker within 1m0s"
		}) {
			t.Error(events, err)
		}
		w.says(farm.ID(0), "failed")
		testenv.Eventually(t, 10*time.Second, "dropped, for it is not eligible", func() bool { return reported(t, p)["ineligible"] == 1 })
		if s := states(t, p); s[record.Eligible] != 7 {
			t.Errorf("%v", s)
		}
		sound(t, p)
	})
}

func TestReportsOfAHealthyProxyHaveItProbedOnceAndItStays(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, farm := eligibles(t, url, reportCheck(t), 3)
	w := newWorker(t, url, "w")
	for range 30 {
		w.says(farm.ID(1), "failed")
		time.Sleep(100 * time.Millisecond)
	}
	testenv.Eventually(t, 10*time.Second, "all are applied", func() bool {
		n := reported(t, p)
		return n["applied"]+n["answered"] == 30
	})
	testenv.Eventually(t, 10*time.Second, "probed", func() bool { return farm.HitsOf(farm.Host(1)) > 0 })
	testenv.Eventually(t, 10*time.Second, "two ticks", ticksPassed(t, p, 2200))
	if n := farm.HitsOf(farm.Host(1)); n != 1 || len(farm.Hits()) != 1 {
		t.Errorf("probed %d times, others %d times", n, len(farm.Hits())-n)
	}
	if e := look(t, p, farm.ID(1)); !e.Member || e.Record.State != record.Eligible || e.Lanes[record.Recheck] == 0 {
		t.Errorf("%s", e.Raw)
	}
	sound(t, p)
}

func TestWrongReportsAreDroppedAndCountedByCause(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, farm := eligibles(t, url, reportCheck(t), 2)
	w := newWorker(t, url, "w")
	add := func(values ...string) {
		t.Helper()
		if err := w.raw.XAdd(t.Context(), &redis.XAddArgs{Stream: stream, Values: values}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	huge := make([]byte, 300_000)
	for i := range 4 {
		add("endpoint", farm.ID(0), "outcome", "perhaps", "worker", fmt.Sprint(i))
		add("endpoint", farm.ID(0), "outcome", "failed", "worker", fmt.Sprint(i), "at_ms", "yesterday")
		add("endpoint", farm.ID(0), "outcome", "failed", "worker", fmt.Sprint(i), "detail", string(huge))
		add("endpoint", "http://joe:pass@"+farm.Host(0), "outcome", "failed")
		w.says(fmt.Sprintf("http://10.9.9.%d:1", i), "failed")
		w.at(farm.ID(0), "failed", 12345)
		add("rubbish", "")
	}
	want := map[string]int64{"malformed": 12, "oversized": 4, "password": 4, "unknown": 4, "applied": 1, "repeated": 3}
	testenv.Eventually(t, 10*time.Second, "all are counted", func() bool {
		sum := int64(0)
		for _, n := range reported(t, p) {
			sum += n
		}
		return sum == 28
	})
	got := reported(t, p)
	for word, n := range want {
		if got[word] != n {
			t.Errorf("%s: %d, want %d", word, got[word], n)
		}
	}
	if len(farm.Hits()) != 0 {
		t.Error("something was probed")
	}
	left, err := w.raw.XRange(t.Context(), stream, "-", "+").Result()
	if err != nil || len(left) != 20 || slices.ContainsFunc(left, func(m redis.XMessage) bool {
		return m.Values["endpoint"] == "http://joe:pass@"+farm.Host(0) || m.Values["detail"] != nil
	}) {
		t.Errorf("%d entries left: those with a password, and huge ones, are to go; %v", len(left), err)
	}
}

func TestWhatADeadDaemonReadIsAppliedOnceByAnother(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, farm := openPool(t, url), testenv.NewFarm(t, 2)
	w := newWorker(t, url, "w")
	if _, _, err := p.ReadReports(t.Context(), "killed"); err != nil {
		t.Fatal(err)
	}
	enroll(t, p, farm, 2)
	startDaemon(t, url, reportCheck(t))
	testenv.Eventually(t, 20*time.Second, "all are eligible", func() bool { return states(t, p)[record.Eligible] == 2 })
	farm.Reset()
	for taken := 0; taken == 0; { // before the daemon has them
		for range 3 {
			w.says(farm.ID(0), "failed")
		}
		list, _, err := p.ReadReports(t.Context(), "killed")
		if err != nil {
			t.Fatal(err)
		}
		taken = len(list)
	}
	testenv.Eventually(t, 30*time.Second, "all are applied", func() bool {
		x, err := w.raw.XPending(t.Context(), stream, "proxyward").Result()
		return err == nil && x.Count == 0 && farm.HitsOf(farm.Host(0)) > 0
	})
	n := reported(t, p)
	if n["applied"]+n["answered"] != int64(w.ms) || n["asked"] != 1 {
		t.Errorf("of %d: %v", w.ms, n)
	}
}
