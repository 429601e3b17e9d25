package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/store"
	"proxyward/store/record"
)

// count has a pool count live jobs.
func count(t testing.TB, p *store.Pool) *store.Pool {
	t.Helper()
	if _, err := p.AbandonJobs(context.Background()); err != nil {
		t.Fatal(err)
	}
	for at := uint64(0); ; {
		next, _, err := p.FillJobs(context.Background(), at)
		if err != nil {
			t.Fatal(err)
		}
		if at = next; at == 0 {
			return p
		}
	}
}

func acquire(t testing.TB, p *store.Pool, limit time.Duration, most int) store.Job {
	t.Helper()
	j, ok, err := p.Acquire(context.Background(), limit, most)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return j
}

func release(t testing.TB, p *store.Pool, j store.Job) bool {
	t.Helper()
	ended, err := p.Release(context.Background(), j.Token)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

func abandon(t testing.TB, p *store.Pool) int {
	t.Helper()
	r, err := p.AbandonJobs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r.Ended
}

func TestAcquireTakesTheFewestJobsThenTheFewestAllocations(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		for _, c := range []struct {
			name   string
			counts [][2]int64 // allocations, live jobs
			most   int
			want   int // -1: nobody
		}{
			{"nobody", nil, 0, -1},
			{"all idle", [][2]int64{{5, 0}, {3, 0}, {4, 0}}, 0, 1},
			{"the least allocated is the least busy", [][2]int64{{5, 2}, {3, 2}, {4, 3}}, 0, 1},
			{"the least allocated is busier", [][2]int64{{5, 1}, {3, 2}, {4, 1}}, 0, 2},
			{"the most allocated alone is idle", [][2]int64{{3, 1}, {4, 1}, {900, 0}}, 0, 2},
			{"a cap", [][2]int64{{3, 1}, {4, 1}, {900, 0}}, 1, 2},
			{"all at the cap", [][2]int64{{3, 2}, {4, 2}}, 2, -1},
			{"one under the cap", [][2]int64{{3, 2}, {4, 2}, {5, 1}}, 2, 2},
		} {
			at.flush(t)
			p := at.pool(t)
			plant(t, p, record.Eligible, 1<<45, ids(0, len(c.counts))...)
			count(t, p)
			for i, n := range c.counts {
				for range n[1] {
					token := fmt.Sprintf("1.86400000.%d:%s", rand.Int64(), id(i))
					at.raw.ZAdd(t.Context(), at.key("jobs"), redis.Z{Score: float64(now(t, p) + 3_600_000), Member: token})
				}
				at.raw.ZAdd(t.Context(), at.key("inflight"), redis.Z{Score: float64(n[1]), Member: id(i)})
				at.raw.ZAdd(t.Context(), at.key("eligible"), redis.Z{Score: float64(n[0]), Member: id(i)})
			}
			j, ok, err := p.Acquire(t.Context(), time.Minute, c.most)
			if err != nil || ok != (c.want >= 0) || ok && j.Endpoint != id(c.want) {
				t.Errorf("%s: %+v %v %v, want %d", c.name, j, ok, err, c.want)
			}
			if ok {
				e := look(t, p, id(c.want))
				if e.Jobs != c.counts[c.want][1]+1 || e.Score != c.counts[c.want][0]+1 {
					t.Errorf("%s: then %d jobs and %d allocations", c.name, e.Jobs, e.Score)
				}
			}
		}
	})
}

// The idle one is found though hundreds with fewer allocations are busy.
func TestAnIdleOneIsFoundBehindManyBusyOnes(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, 1<<45, ids(0, 450)...)
		count(t, p)
		at.raw.ZAdd(t.Context(), at.key("eligible"), zat(7, 448), zat(9, 449))
		for range 448 {
			acquire(t, p, time.Hour, 1)
		}
		at.raw.ZAdd(t.Context(), at.key("inflight"), zat(0, 999)) // a stray that idles is no endpoint
		if j := acquire(t, p, time.Hour, 0); j.Endpoint != id(448) {
			t.Error(j)
		}
		if j := acquire(t, p, time.Hour, 1); j.Endpoint != id(449) {
			t.Error(j)
		}
		if _, ok, err := p.Acquire(t.Context(), time.Hour, 1); ok || err != nil {
			t.Error("taken over the cap", err)
		}
		mended(t, repair(t, p))
	})
}

// behindBusyOnes is a pool of ten busy endpoints, and of so many idle ones with more allocations.
func behindBusyOnes(t *testing.T, at place, idle int, allocations func(i int) float64) *store.Pool {
	t.Helper()
	p := at.pool(t)
	plant(t, p, record.Eligible, 1<<45, ids(0, 10+idle)...)
	count(t, p)
	for i := range idle {
		at.raw.ZAdd(t.Context(), at.key("eligible"), zat(allocations(i), 10+i))
	}
	for range 10 {
		acquire(t, p, time.Hour, 1)
	}
	return p
}

func TestBehindBusyOnesAFewIdleOnesAreTakenInOrder(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := behindBusyOnes(t, at, 32, func(i int) float64 { return 100 + float64(i*7%32) })
		for n := range 32 {
			if j := acquire(t, p, time.Hour, 1); j.Endpoint != id(10+n*23%32) { // 7 × 23 is 1 modulo 32
				t.Errorf("the %d. is %s", n, j.Endpoint)
			}
		}
		if j, ok, err := p.Acquire(t.Context(), time.Hour, 1); ok || err != nil {
			t.Error(j, err)
		}
	})
}

// Of many idle ones behind busy ones none is forgotten, and none is preferred for long.
func TestBehindBusyOnesManyIdleOnesShareTheWork(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := behindBusyOnes(t, at, 90, func(int) float64 { return 100 })
		for range 900 {
			if j := acquire(t, p, time.Hour, 1); !release(t, p, j) {
				t.Fatal("no job of", j.Endpoint)
			}
		}
		var scores []float64
		for i := range 90 {
			scores = append(scores, at.raw.ZScore(t.Context(), at.key("eligible"), id(10+i)).Val())
		}
		if low, high := slices.Min(scores), slices.Max(scores); low < 105 || high > 115 {
			t.Errorf("900 jobs of 90 endpoints, and their allocations went from 100 to %v-%v", low, high)
		}
	})
}

func TestAJobEndsOnce(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := count(t, at.pool(t))
		plant(t, p, record.Eligible, 1<<45, ids(0, 3)...)
		amendURL(t, p, id(0), "http://u:pw@10.0.0.1:10000")
		j := acquire(t, p, time.Minute, 0)
		other := acquire(t, p, time.Minute, 0)
		if j.Endpoint != id(0) || j.URL != "http://u:pw@10.0.0.1:10000" || other.Endpoint != id(1) || other.URL != id(1) {
			t.Errorf("%+v %+v", j, other)
		}
		var ended atomic.Int64
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				if ok, err := p.Release(context.Background(), j.Token); err != nil {
					t.Error(err)
				} else if ok {
					ended.Add(1)
				}
			})
		}
		all.Wait()
		if ended.Load() != 1 || look(t, p, id(0)).Jobs != 0 || look(t, p, id(1)).Jobs != 1 {
			t.Errorf("ended %d times; %d and %d jobs are left", ended.Load(), look(t, p, id(0)).Jobs, look(t, p, id(1)).Jobs)
		}
		at.later(t, 61*time.Second)
		if n := abandon(t, p); n != 1 || release(t, p, other) {
			t.Errorf("%d abandoned; then released", n)
		}
	})
}

// 16 workers with a cap of 1, while members are ejected and return: nobody shares one.
func TestACapOfOneIsExclusive(t *testing.T) {
	at := real(t)
	p := count(t, at.pool(t))
	const members, workers, each = 12, 16, 1500
	plant(t, p, record.Eligible, 1<<45, ids(0, members)...)
	var holders [members]atomic.Int64
	index := map[string]int{}
	for i := range members {
		index[id(i)] = i
	}
	done := make(chan struct{})
	var work, traffic sync.WaitGroup
	var taken, none atomic.Int64
	for range workers {
		mine := at.store(t).Pool(check)
		work.Go(func() {
			for range each {
				j, ok, err := mine.Acquire(context.Background(), time.Hour, 1)
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					none.Add(1)
					continue
				}
				taken.Add(1)
				if n := holders[index[j.Endpoint]].Add(1); n != 1 {
					t.Errorf("%s has %d workers", j.Endpoint, n)
				}
				if rand.IntN(3) == 0 {
					time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
				}
				holders[index[j.Endpoint]].Add(-1)
				if ended, err := mine.Release(context.Background(), j.Token); err != nil || !ended {
					t.Error(ended, err)
				}
			}
		})
	}
	turns, checks := 0, 0
	traffic.Go(func() { turns = comeAndGo(t, p, ids(0, members), done) })
	looker := at.store(t).Pool(check)
	traffic.Go(func() {
		for ; ; checks++ {
			select {
			case <-done:
				return
			default:
				sound(t, looker) // I8 raises no false alarm
			}
		}
	})
	work.Wait()
	close(done)
	traffic.Wait()
	if taken.Load() < 1000 || none.Load() < 10 || turns < 50 || checks < 20 {
		t.Errorf("%d taken, %d times nobody was free, %d returns, %d checks: too little to mean anything", taken.Load(), none.Load(), turns, checks)
	}
	if n := at.raw.ZCard(t.Context(), at.key("jobs")).Val(); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestJobsOfAnEjectedMemberEndAndCountAgainWhenItReturns(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := count(t, at.pool(t))
		plant(t, p, record.Eligible, 1, id(0))
		first, second, third := acquire(t, p, time.Hour, 0), acquire(t, p, time.Hour, 0), acquire(t, p, time.Minute, 0)
		applied(t)(commit(t, p, move(one(t, p), record.Cooling, 1, 0)), nil)
		counts := func(inflight, engaged string) {
			t.Helper()
			in, away := fmt.Sprint(at.raw.ZRangeWithScores(t.Context(), at.key("inflight"), 0, -1).Val()), fmt.Sprint(at.raw.HGetAll(t.Context(), at.key("engaged")).Val())
			if in != inflight || away != engaged {
				t.Errorf("inflight %s, engaged %s; want %s, %s", in, away, inflight, engaged)
			}
			sound(t, p)
		}
		counts("[]", "map["+id(0)+":3]")
		if !release(t, p, first) || look(t, p, id(0)).Member || look(t, p, id(0)).Jobs != 2 {
			t.Error("its end brought it back, or was not counted")
		}
		if _, ok, _ := p.Acquire(t.Context(), time.Hour, 0); ok {
			t.Error("an ejected one is given out")
		}
		applied(t)(commit(t, p, move(one(t, p), record.Eligible, 1, 0)), nil)
		counts("[{2 "+id(0)+"}]", "map[]")
		if _, ok, _ := p.Acquire(t.Context(), time.Hour, 2); ok {
			t.Error("its jobs do not count against the cap")
		}
		disable(t, p, id(0))
		at.later(t, 2*time.Minute)
		if n := abandon(t, p); n != 1 || release(t, p, third) {
			t.Errorf("%d abandoned", n)
		}
		counts("[]", "map["+id(0)+":1]")
		applied(t)(p.Forget(t.Context(), record.ByOperator, []store.Entry{look(t, p, id(0))}))
		counts("[]", "map["+id(0)+":1]")
		plant(t, p, record.Eligible, 1<<45, id(0)) // listed again: the job is its own
		counts("[{1 "+id(0)+"}]", "map[]")
		release(t, p, second)
		counts("[{0 "+id(0)+"}]", "map[]")
	})
}

// A worker that was given the token when nobody counted jobs, and one that came later.
func TestJobsAreSwitchedOnAndOff(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, 1<<45, ids(0, 700)...)
		early := acquire(t, p, time.Hour, 0)
		amend(t, p, early.Endpoint, record.Cooling, 1<<45, nil)
		amend(t, p, early.Endpoint, record.Eligible, 1<<45, nil)
		sound(t, p)
		r, err := p.AbandonJobs(t.Context())
		if err != nil || r.Whole {
			t.Fatal(r, err)
		}
		sound(t, p) // nobody is missed while they are put in
		amend(t, p, id(600), record.Cooling, 1<<45, nil)
		plant(t, p, record.Eligible, 1<<45, id(700))
		count(t, p)
		if r, err := p.AbandonJobs(t.Context()); err != nil || !r.Whole {
			t.Fatal(r, err)
		}
		if n := at.raw.ZCard(t.Context(), at.key("inflight")).Val(); n != 700 {
			t.Errorf("%d in inflight", n)
		}
		if e := look(t, p, early.Endpoint); e.Jobs != 1 {
			t.Errorf("%d jobs of the early one", e.Jobs)
		}
		sound(t, p)
		if dropped, _, err := p.DropJobs(t.Context()); err != nil || !dropped {
			t.Fatal(dropped, err)
		}
		if n := at.raw.Exists(t.Context(), at.key("jobs"), at.key("inflight"), at.key("engaged")).Val(); n != 0 {
			t.Errorf("%d keys are left", n)
		}
		if at.raw.HGet(t.Context(), at.key("meta"), "jobs").Val()+at.raw.HGet(t.Context(), at.key("meta"), "jobs_whole").Val() != "" {
			t.Error("the field is left")
		}
		if dropped, left, err := p.DropJobs(t.Context()); err != nil || dropped || left != 0 || release(t, p, early) {
			t.Error("it goes on", err)
		}
		late := acquire(t, p, time.Hour, 0)
		if dropped, left, err := p.DropJobs(t.Context()); err != nil || dropped || left != 1 || !release(t, p, late) {
			t.Errorf("one that nobody counts: %d, %v", left, err)
		}
		at.raw.Del(t.Context(), at.key("inflight"))
		amend(t, p, id(1), record.Cooling, 1<<45, nil)
		amend(t, p, id(1), record.Eligible, 1<<45, nil)
		if n := at.raw.Exists(t.Context(), at.key("inflight"), at.key("engaged")).Val(); n != 0 {
			t.Errorf("counted though it is off: %d keys", n)
		}
		count(t, p)
	})
}

func TestAThousandAbandonedJobsEndAtOnce(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := count(t, at.pool(t))
		plant(t, p, record.Eligible, 1<<45, ids(0, 30)...)
		for range 1000 {
			acquire(t, p, time.Minute, 0)
		}
		later := acquire(t, p, time.Hour, 0)
		if n := abandon(t, p); n != 0 {
			t.Errorf("%d too early", n)
		}
		at.later(t, 5*time.Minute)
		if n := abandon(t, p); n != 1000 {
			t.Errorf("%d ended", n)
		}
		if !release(t, p, later) {
			t.Error("a live one was ended too")
		}
	})
}

func TestALeapOfTheClockKeepsNoJobAlive(t *testing.T) {
	for _, c := range []struct {
		jump time.Duration
		keep int // jobs of a minute that are live 30 s after it
	}{{hour, 3}, {-hour, 3}} {
		t.Run(c.jump.String(), func(t *testing.T) {
			w := newWall(t)
			p := w.pool(t)
			plant(t, p, record.Eligible, 1<<45, ids(0, 3)...)
			claim(t, p, request(0))
			count(t, p)
			left := func() int64 { return w.raw.ZCard(t.Context(), w.key("jobs")).Val() }
			acquire(t, p, time.Minute, 0)
			acquire(t, p, 2*hour, 0)
			w.jump(c.jump)
			acquire(t, p, time.Minute, 0) // before any daemon noticed
			w.jump(time.Second)
			claim(t, p, request(0))
			if n := abandon(t, p); n != 0 {
				t.Errorf("%d ended by the leap", n)
			}
			sound(t, p)
			passed := time.Duration(0)
			for ; left() > 1 && passed < 10*time.Minute; passed += time.Second {
				w.jump(time.Second)
				claim(t, p, request(0))
				if abandon(t, p); passed < 30*time.Second && left() != int64(c.keep) {
					t.Fatalf("%v after the leap %d are live", passed, left())
				}
			}
			if passed > 65*time.Second {
				t.Errorf("the jobs of a minute ended %v after the leap", passed)
			}
		})
	}
}

func TestReleaseTellsWhatTheWorkerSaw(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := count(t, at.pool(t))
		plant(t, p, record.Eligible, 1<<45, id(0))
		j := acquire(t, p, time.Minute, 0)
		for range 2 { // once, though it is sent twice
			lua(t, at.raw, "release", at.keys("inflight", "jobs", "engaged", "reports"), j.Token, "failed", "connect", "refused", "w1")
		}
		entries := at.raw.XRange(t.Context(), at.key("reports"), "-", "+").Val()
		if len(entries) != 1 || fmt.Sprint(entries[0].Values) != fmt.Sprint(map[string]any{"endpoint": id(0), "outcome": "failed", "stage": "connect",
			"reason": "refused", "worker": "w1", "at_ms": ""}) {
			t.Errorf("%v", entries)
		}
		reports, _, err := p.ReadReports(t.Context(), "d")
		if err != nil || len(reports) != 1 || reports[0].Endpoint != id(0) || reports[0].Outcome != "failed" {
			t.Errorf("%+v, %v", reports, err)
		}
	})
}

func (at place) keys(parts ...string) (names []string) {
	for _, part := range parts {
		names = append(names, at.key(part))
	}
	return names
}

// lua runs one of the workers' files as it is.
func lua(t testing.TB, c redis.Cmdable, file string, keys []string, args ...any) any {
	t.Helper()
	v, err := luaErr(c, file, keys, args...)
	if err != nil && err != redis.Nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

func luaErr(c redis.Cmdable, file string, keys []string, args ...any) (any, error) {
	text, err := os.ReadFile("lua/" + file + ".lua")
	if err != nil {
		return nil, err
	}
	return c.Eval(context.Background(), string(text), keys, args...).Result()
}

func TestAllocateWithTheURLInOneRoundTrip(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		names := at.keys("eligible", "urls")
		if v := lua(t, at.raw, "allocate_url", names); v != nil {
			t.Errorf("an empty pool gives %v", v)
		}
		plant(t, p, record.Eligible, 1<<45, ids(0, 2)...)
		amendURL(t, p, id(1), "http://u:pw@10.0.0.1:10001")
		for _, want := range []string{"[" + id(0) + " " + id(0) + "]", "[" + id(1) + " http://u:pw@10.0.0.1:10001]", "[" + id(0) + " " + id(0) + "]"} {
			if got := fmt.Sprint(lua(t, at.raw, "allocate_url", names)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
}

// What the workers' scripts refuse, and that nothing was written then.
func TestWorkersScriptsRefuseBadArgumentsBeforeTheyWrite(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := count(t, at.pool(t))
		plant(t, p, record.Eligible, 1<<45, id(0))
		j := acquire(t, p, time.Hour, 0)
		dump := func() string {
			text := ""
			for _, part := range []string{"jobs", "inflight", "eligible"} {
				text += fmt.Sprint(at.raw.ZRangeWithScores(t.Context(), at.key(part), 0, -1).Val())
			}
			return text + fmt.Sprint(at.raw.HGetAll(t.Context(), at.key("engaged")).Val(), at.raw.Exists(t.Context(), at.key("reports")).Val())
		}
		before := dump()
		acquiring, releasing := at.keys("eligible", "inflight", "jobs", "clock"), at.keys("inflight", "jobs", "engaged", "reports")
		long := fmt.Sprintf("%0129d", 1)
		for _, c := range []struct {
			file string
			keys []string
			args []any
		}{
			{"acquire", acquiring, nil},
			{"acquire", acquiring, []any{"", 1}},
			{"acquire", acquiring, []any{0, 1}},
			{"acquire", acquiring, []any{-5, 1}},
			{"acquire", acquiring, []any{86_400_001, 1}},
			{"acquire", acquiring, []any{1.5, 1}},
			{"acquire", acquiring, []any{"soon", 1}},
			{"acquire", acquiring, []any{1000, -1}},
			{"acquire", acquiring, []any{1000, 0.5}},
			{"acquire", acquiring, []any{1000, "many"}},
			{"release", releasing, nil},
			{"release", releasing, []any{id(0)}},
			{"release", releasing, []any{"1.2.3"}},
			{"release", releasing, []any{j.Token, long}},
			{"release", releasing, []any{j.Token, "failed", long}},
			{"release", releasing, []any{j.Token, "failed", "", long}},
			{"release", releasing, []any{j.Token, "failed", "", "", long}},
		} {
			if v, err := luaErr(at.raw, c.file, c.keys, c.args...); err == nil || err == redis.Nil {
				t.Errorf("%s took %v: %v", c.file, c.args, v)
			}
			if after := dump(); after != before {
				t.Fatalf("%s %v wrote: %s", c.file, c.args, after)
			}
		}
		at.raw.Set(t.Context(), at.key("reports"), "x", 0) // nothing is half done where a key is of another kind
		if _, err := luaErr(at.raw, "release", releasing, j.Token, "failed"); err == nil || at.raw.ZCard(t.Context(), at.key("jobs")).Val() != 1 {
			t.Error("the job ended, its report is lost", err)
		}
		at.raw.Del(t.Context(), at.key("reports"))
		if !release(t, p, j) {
			t.Error("the refusals ended it")
		}
	})
}

func TestTwoJobsNeverHaveOneToken(t *testing.T) {
	w := newWall(t) // its clock stands still
	p := count(t, w.pool(t))
	plant(t, p, record.Eligible, 1<<45, id(0))
	seen := map[string]bool{}
	for range 50 {
		seen[acquire(t, p, time.Minute, 0).Token] = true
	}
	if len(seen) != 50 || look(t, p, id(0)).Jobs != 50 {
		t.Errorf("%d tokens, %d jobs", len(seen), look(t, p, id(0)).Jobs)
	}
}
