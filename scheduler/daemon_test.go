package scheduler_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/internal/testenv"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

func look(t *testing.T, p *store.Pool, id string) store.Entry {
	t.Helper()
	entries, bad, err := p.Look(t.Context(), []string{id})
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	return entries[0]
}

func TestGoodProxiesBecomeEligibleAndFailingOnesCoolAndComeBack(t *testing.T) {
	t.Parallel()
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p, farm := openPool(t, url), testenv.NewFarm(t, 6)
		var healed atomic.Bool
		farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
			if proxy == farm.Host(0) && !healed.Load() {
				http.Error(w, "blocked", http.StatusForbidden)
				return
			}
			testenv.Good(w, r, proxy)
		})
		enroll(t, p, farm, 6)
		startDaemon(t, url, testCheck(t))
		testenv.Eventually(t, 10*time.Second, "5 eligible, 1 cooling", func() bool {
			s := states(t, p)
			return s[record.Eligible] == 5 && s[record.Cooling] == 1
		})
		e := look(t, p, farm.ID(0))
		if e.Record.Reason != "http_status" || e.Record.Stage != "verify" || e.Member {
			t.Fatalf("%+v", e)
		}
		healed.Store(true)
		testenv.Eventually(t, 15*time.Second, "6 eligible", func() bool { return states(t, p)[record.Eligible] == 6 })
		if e := look(t, p, farm.ID(0)); !e.Member || len(e.Record.Classes) != 0 {
			t.Errorf("came back as %+v", e)
		}
		sound(t, p)
	})
}

func TestATargetsOutageLeavesEveryoneEligible(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, farm := openPool(t, url), testenv.NewFarm(t, 5)
	enroll(t, p, farm, 5)
	c := testCheck(t)
	c.Policy.Recheck = time.Second
	startDaemon(t, url, c)
	testenv.Eventually(t, 10*time.Second, "5 eligible", func() bool { return states(t, p)[record.Eligible] == 5 })
	farm.Answer(testenv.Say(http.StatusServiceUnavailable))
	farm.Reset()
	testenv.Eventually(t, 20*time.Second, "each probed twice", func() bool { return len(farm.Hits()) >= 10 })
	if s := states(t, p); s[record.Eligible] != 5 {
		t.Errorf("after 503s: %v", s)
	}
}

func TestOneProbeOfAnEndpointAtATime(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, farm := openPool(t, url), testenv.NewFarm(t, 1)
	asked, answer := make(chan struct{}, 10), make(chan struct{})
	farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		asked <- struct{}{}
		<-answer
		testenv.Good(w, r, proxy)
	})
	enroll(t, p, farm, 1)
	c := testCheck(t)
	startDaemon(t, url, c)
	startDaemon(t, url, c)
	<-asked
	id, list := farm.ID(0), farm.Endpoints(t, 1)
	ctx := t.Context()
	meddle := map[string]func() error{
		"recheck": func() error { _, err := p.Recheck(ctx, 0, []string{id}); return err },
		"disable": func() error { _, err := scheduler.Disable(ctx, p, []string{id}, "look at this", 0); return err },
		"enable":  func() error { _, err := scheduler.Enable(ctx, p, []string{id}); return err },
		"list again": func() error {
			_, err := scheduler.Enroll(ctx, p, "file:other", record.BySource, list, 0)
			return err
		},
	}
	for _, name := range []string{"recheck", "disable", "recheck", "enable", "recheck", "list again", "disable"} {
		if err := meddle[name](); err != nil {
			t.Fatal(name, err)
		}
	}
	testenv.Eventually(t, 5*time.Second, "two ticks of both daemons", ticksPassed(t, p, 2200))
	if len(asked) != 0 {
		t.Error("a second probe began while the first was in flight")
	}
	close(answer)
	testenv.Eventually(t, 5*time.Second, "the lease ends", func() bool { return !look(t, p, id).Leased })
	e := look(t, p, id)
	if e.Record.State != record.Disabled || e.Record.Note != "look at this" || len(e.Record.Sources) != 2 || e.Record.LastOKMs == 0 {
		t.Errorf("after the commit: %s", e.Raw)
	}
	if err := meddle["enable"](); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 5*time.Second, "eligible", func() bool { return look(t, p, id).Member })
	if len(farm.Overlaps()) > 0 {
		t.Error("two probes at once")
	}
	sound(t, p)
}

// ticksPassed is true once the pool's time has gone on by ms.
func ticksPassed(t *testing.T, p *store.Pool, ms int64) func() bool {
	first := int64(0)
	return func() bool {
		now, err := p.Time(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = now
		}
		return now-first > ms
	}
}

func TestAPanicInAProbeIsOurOwnFault(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, farm := openPool(t, url), testenv.NewFarm(t, 2)
	enroll(t, p, farm, 2)
	c := testCheck(t)
	c.Transaction = nil // every probe of it panics
	startDaemon(t, url, c)
	testenv.Eventually(t, 5*time.Second, "given back", func() bool {
		s, err := p.Status(t.Context())
		e := look(t, p, farm.ID(0))
		return err == nil && s.Leases == 0 && e.Lanes[record.CandidateQueue] > s.Now+2000
	})
	e := look(t, p, farm.ID(0))
	if e.Record.State != record.Candidate || e.Record.LastProbeMs != 0 || len(e.Record.Classes) != 0 {
		t.Errorf("a panic left a mark: %s", e.Raw)
	}
	sound(t, p)
}

func TestTheStopLetsProbesFinishAndGivesTheRestBack(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, farm := openPool(t, url), testenv.NewFarm(t, 20)
	asked := make(chan string, 40)
	never := make(chan struct{})
	farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		asked <- proxy
		if strings.HasSuffix(proxy, "1") {
			select {
			case <-never:
			case <-r.Context().Done():
			}
			return
		}
		time.Sleep(300 * time.Millisecond)
		testenv.Good(w, r, proxy)
	})
	t.Cleanup(func() { close(never) })
	enroll(t, p, farm, 20)
	c := testCheck(t)
	c.Timeout = time.Second // the grace time; the probes themselves would go on for three
	stop := startDaemon(t, url, c)
	for range 20 {
		<-asked
	}
	began := time.Now()
	stop()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the stop took %v", took)
	}
	s, err := p.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.States[record.Eligible] != 18 || s.States[record.Candidate] != 2 || s.Leases != 0 || len(s.Daemons) != 0 {
		t.Errorf("after the stop: %+v", s)
	}
	sound(t, p)
}

func TestADirectAnswerTellsAProxysErrorFromTheTargets(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, farm := openPool(t, url), testenv.NewFarm(t, 2)
	farm.Answer(testenv.Say(http.StatusInternalServerError))
	var well atomic.Bool
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if well.Load() {
			testenv.Good(w, r, "")
			return
		}
		http.Error(w, "no", http.StatusInternalServerError)
	}))
	t.Cleanup(target.Close)
	enroll(t, p, farm, 2)
	c := testCheck(t)
	var err error
	if c.Transaction, err = checks.Compile(checks.Spec{Name: "c", Steps: []checks.Step{{Request: checks.Request{URL: target.URL + "/"}}}}); err != nil {
		t.Fatal(err)
	}
	c.Control = true
	stop := startDaemon(t, url, c)
	testenv.Eventually(t, 10*time.Second, "judged", func() bool { return look(t, p, farm.ID(0)).Record.LastProbeMs > 0 })
	if e := look(t, p, farm.ID(0)); e.Record.State != record.Candidate || e.Record.Blame != "target" {
		t.Errorf("the target fails directly too: %s", e.Raw)
	}
	stop()
	well.Store(true)
	startDaemon(t, url, c) // a fresh one has not yet asked
	testenv.Eventually(t, 10*time.Second, "asks again", func() bool {
		_, err := p.Recheck(t.Context(), 0, []string{farm.ID(0)})
		return err == nil && look(t, p, farm.ID(0)).Record.State == record.Cooling
	})
	if e := look(t, p, farm.ID(0)); e.Record.Blame != "proxy" {
		t.Errorf("the target is well directly: %s", e.Raw)
	}
}
