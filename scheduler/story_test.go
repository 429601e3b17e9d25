package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"proxyward/checks/endpoint"
	"proxyward/internal/testenv"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/scheduler/guard"
	"proxyward/store"
	"proxyward/store/record"
)

// story is a small pool with a daemon, a list, an operator and workers. Everything the
// daemon and the operator say to Redis goes through the faults; workers and the checks of
// the story have a connection of their own.
type story struct {
	*testing.T
	faults *faults
	pool   *store.Pool // the operator's
	seen   *store.Pool // what Redis holds
	redis  *redis.Client
	farm   *testenv.Farm
	list   string
	logs   *observer.ObservedLogs
	ids    [10]string
	shares [2]string // two endpoints of one host, which one probe at a time may use

	forgotten map[string]bool
	count     map[string]int64 // allocations seen
	handed    map[string]int64 // allocations made

	mu      sync.Mutex
	answers map[string]int // status by proxy address; none: 200
	passes  map[string]int // by proxy address
	refused map[string]int
}

const (
	storySize = 11 // proxies
	storyRise = 2
	storyFall = 2
)

// tell tells the whole story, and what must be true of it in the end.
func tell(t *testing.T, f *faults, farm *testenv.Farm, dial *redis.Options) {
	s := &story{T: t, faults: f, farm: farm, list: filepath.Join(t.TempDir(), "proxies.txt"),
		forgotten: map[string]bool{}, count: map[string]int64{}, handed: map[string]int64{},
		answers: map[string]int{}, passes: map[string]int{}, refused: map[string]int{}}
	for i := range s.ids {
		s.ids[i] = s.farm.ID(i)
	}
	s.shares = [2]string{s.sharing("ann"), s.sharing("bob")}
	s.farm.Answer(s.answer)
	hooked, plain := redis.NewClient(dial), redis.NewClient(dial)
	hooked.AddHook(f)
	defer hooked.Close()
	defer plain.Close()
	through := store.New(hooked, "")
	s.pool, s.seen = through.Pool("c"), store.New(plain, "").Pool("c")
	s.redis = plain
	stop := s.daemon(through)
	s.everyChapter()
	stop()
	s.sound("in the end")
	s.events()
	for _, entry := range s.logs.FilterMessageSnippet("internal fault").All() {
		t.Error(entry.ContextMap())
	}
	if t.Failed() {
		t.Log("failed: ", f.fired())
	}
}

func (s *story) sharing(user string) string {
	return fmt.Sprintf("http://%s@%s:%d", user, s.farm.Host(10), s.farm.Port)
}

// answer is the proxies' part.
func (s *story) answer(w http.ResponseWriter, r *http.Request, proxy string) {
	s.mu.Lock()
	status := s.answers[proxy]
	if status == 0 {
		s.passes[proxy]++
	} else {
		s.refused[proxy]++
	}
	s.mu.Unlock()
	if proxy == s.farm.Host(10) {
		time.Sleep(5 * time.Millisecond) // so that the other one finds the host in use
	}
	if status == 0 {
		testenv.Good(w, r, proxy)
		return
	}
	http.Error(w, "no", status)
}

// becomes changes what proxies answer; 0 is the good page.
func (s *story) becomes(status int, which ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range which {
		s.answers[s.farm.Host(i)] = status
		s.passes[s.farm.Host(i)], s.refused[s.farm.Host(i)] = 0, 0
	}
}

func (s *story) check() scheduler.Check {
	c := testCheck(s.T)
	c.Timeout = time.Second // the lease is that and its margin
	c.Policy.Rise, c.Policy.Fall, c.Policy.Recheck = storyRise, storyFall, 4*time.Second
	c.Policy.Cooldown.Base, c.Policy.Cooldown.Max = 10*time.Hour, 20*time.Hour
	c.Trickle.PerTick, c.Trickle.MaxPerTick = 1, 1
	c.Limits.PerHost = 1
	c.Guard = guard.Rules{Enabled: true, TargetShare: 0.6, AllShare: 0.95}
	c.Reports = scheduler.Reports{SuspectAfter: 1, Within: time.Minute, DistinctWorkers: 1, Stretch: 1}
	c.Scores = scheduler.Scores{Initial: 0, Keep: true}
	c.Sources = []scheduler.Source{{File: s.list, Scheme: "http", Refresh: "@every 3s"}}
	return c
}

func (s *story) daemon(through *store.Store) (stop func()) {
	core, logs := observer.New(zapcore.InfoLevel)
	s.logs = logs
	d := scheduler.NewDaemon(scheduler.Options{Name: "d", Store: through, Prober: prober.New(64), Checks: []scheduler.Check{s.check()}, Log: zap.New(core)})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s.lists(0, 1, 2, 3, 4, 5, 6, 7)
	go func() { done <- d.Run(ctx) }()
	return func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				s.Error(err)
			}
		case <-time.After(time.Minute):
			s.Fatal("the daemon does not stop")
		}
	}
}

// lists replaces the list; the two that share a host are always in it.
func (s *story) lists(which ...int) {
	lines := s.shares[:]
	for _, i := range which {
		lines = append(lines[:len(lines):len(lines)], s.ids[i])
	}
	writeList(s.T, s.list, lines...)
}

// until waits, and holds the invariants against what Redis has when a call has just failed
// and when the wait is over.
func (s *story) until(what string, ok func(states map[string]record.State) bool) {
	s.Helper()
	told := len(s.faults.fired())
	for end := time.Now().Add(4 * time.Minute); !ok(s.states()); time.Sleep(500 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("never %s: %v, failed: %v", what, s.states(), s.faults.fired())
		}
		if now := len(s.faults.fired()); now > told {
			told = now
			s.sound("after the fault")
		}
	}
	s.sound(what)
	s.work()
}

// states are the states of all endpoints.
func (s *story) states() map[string]record.State {
	raw, err := s.redis.HGetAll(context.Background(), "proxyward:{c}:endpoints").Result()
	if err != nil {
		s.Fatal(err)
	}
	all := map[string]record.State{}
	for id, text := range raw {
		r, err := record.Decode(text)
		if err != nil {
			s.Fatal(err)
		}
		all[id] = r.State
	}
	return all
}

// order is one thing the operator asks for; if the answer does not come he asks again.
func (s *story) order(what string, f func(ctx context.Context) error) {
	s.Helper()
	var err error
	for range 30 {
		if err = f(context.Background()); err == nil {
			return
		}
		if errors.Is(err, errBusy) {
			time.Sleep(time.Second)
		}
	}
	s.Fatalf("%s: %v", what, err)
}

// errBusy is what an operator hears of an endpoint that is being probed.
var errBusy = errors.New("it is being probed now")

// work is what workers do meanwhile: they take proxies, and complain of one.
func (s *story) work() {
	complaint := []string{"endpoint", s.ids[0], "outcome", "failed", "stage", "body", "reason", "timeout", "worker", "w", "at_ms", "1"}
	if err := s.redis.XAdd(context.Background(), &redis.XAddArgs{Stream: "proxyward:{c}:reports", Values: complaint}).Err(); err != nil {
		s.Fatal(err)
	}
	for range 3 {
		id, _, ok, err := s.seen.Allocate(context.Background())
		if err != nil {
			s.Fatal(err)
		}
		if ok {
			s.handed[id]++
		}
	}
}

// sound: fsck finds nothing, nobody is lost, and no count of allocations fell.
func (s *story) sound(when string) {
	s.Helper()
	report, err := s.seen.Fsck(context.Background())
	if err != nil {
		s.Fatal(err)
	}
	for _, v := range report.Violations {
		s.Errorf("%s: %s %s: %s", when, v.Invariant, v.Endpoint, v.What)
	}
	ids := append(s.ids[:], s.shares[:]...)
	entries, bad, err := s.seen.Look(context.Background(), ids)
	if err != nil || len(bad) > 0 {
		s.Fatal(err, bad)
	}
	for _, e := range entries {
		_, known := s.count[e.ID]
		if known && !e.Known() && !s.forgotten[e.ID] {
			s.Errorf("%s: %s is lost", when, e.ID)
		}
		if !e.Known() {
			continue
		}
		if n := e.Allocations(); n < s.count[e.ID] || n < s.handed[e.ID] {
			s.Errorf("%s: %s has %d allocations, had %d, %d were made", when, e.ID, n, s.count[e.ID], s.handed[e.ID])
		}
		s.count[e.ID] = e.Allocations()
		s.proven(when, e)
	}
	for _, id := range s.shares { // these never leave the set
		if s.count[id] != s.handed[id] {
			s.Errorf("%s: %s has %d allocations, %d were made", when, id, s.count[id], s.handed[id])
		}
	}
}

// proven: whoever is in the set has passed often enough, whoever cools by probes has failed
// often enough, since its proxy changed.
func (s *story) proven(when string, e store.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.ids[:], e.ID)
	if i < 0 {
		return
	}
	proxy := s.farm.Host(i)
	if e.Member && s.answers[proxy] == 0 && s.passes[proxy] < storyRise {
		s.Errorf("%s: %s is eligible after %d passes", when, e.ID, s.passes[proxy])
	}
	first := len(e.Record.History) < 3 // a candidate cools at its first failure
	if e.Record.State == record.Cooling && s.answers[proxy] != 0 && !first && s.refused[proxy] < storyFall {
		s.Errorf("%s: %s cools after %d failures", when, e.ID, s.refused[proxy])
	}
}

// parse is the endpoints of ids.
func (s *story) parse(ids ...string) (list []endpoint.Endpoint) {
	for _, id := range ids {
		e, err := endpoint.Parse(id)
		if err != nil {
			s.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// short is an id as the chapters call it.
func (s *story) short(id string) string {
	if i := slices.Index(s.ids[:], id); i >= 0 {
		return fmt.Sprint(i)
	}
	user, _, _ := strings.Cut(strings.TrimPrefix(id, "http://"), "@")
	return user
}
