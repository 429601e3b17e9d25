package store_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/store"
	"proxyward/store/record"
)

func zat(score float64, i int) redis.Z { return redis.Z{Score: score, Member: id(i)} }

// wrongs are violations, each planted with a plain client in a pool that is otherwise sound: a
// candidate 0, an eligible 1, a cooling 2, a disabled 3, and a leased candidate 4.
var wrongs = []struct {
	name      string
	plant     func(ctx context.Context, r redis.Cmdable, key func(string) string)
	invariant string
	about     int // endpoint; -1: the pool
}{
	{"in two lanes", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("due:urgent"), zat(5, 0))
	}, "I1", 0},
	{"in no lane", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZRem(ctx, key("due:candidate"), id(0))
	}, "I1", 0},
	{"in another state's lane", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZRem(ctx, key("due:recheck"), id(1))
		r.ZAdd(ctx, key("due:candidate"), zat(5, 1))
	}, "I1", 1},
	{"a cooling one in the urgent lane", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZRem(ctx, key("due:recovery"), id(2))
		r.ZAdd(ctx, key("due:urgent"), zat(5, 2))
	}, "I1", 2},
	{"a disabled one in a lane", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("due:candidate"), zat(5, 3))
	}, "I1", 3},
	{"leased and in a lane", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("due:candidate"), zat(5, 4))
	}, "I1", 4},
	{"a lease without a token", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HDel(ctx, key("tokens"), id(4))
	}, "I1", 4},
	{"a token without a lease", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("tokens"), id(0), "candidate.5.x")
	}, "I1", 0},
	{"a lease that goes back to another state's lane", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("tokens"), id(4), "recovery.5.x")
	}, "I1", 4},
	{"a lane entry without a record", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("due:recovery"), zat(5, 50))
	}, "I1", 50},
	{"a lease without a record", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("leases"), zat(5, 50))
	}, "I1", 50},
	{"a token without a record", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("tokens"), id(50), "candidate.5.x")
	}, "I1", 50},
	{"a URL without a record", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("urls"), id(50), "http://u:p@10.0.0.1:1")
	}, "I1", 50},
	{"a record that cannot be read", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("endpoints"), id(0), `{"state":`)
	}, "I1", 0},
	{"a record of no known state", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("endpoints"), id(0), `{"state":"dead"}`)
	}, "I1", 0},
	{"disabled without a hold", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("endpoints"), id(3), `{"state":"disabled"}`)
	}, "I1", 3},
	{"held, yet not disabled", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("endpoints"), id(0), `{"state":"candidate","holds":["operator"]}`)
	}, "I1", 0},
	{"a hold without a record", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("holds"), zat(5, 50))
	}, "I1", 50},
	{"a hold that the record does not know", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("holds"), zat(5, 3))
	}, "I1", 3},
	{"a hold that would never end", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("endpoints"), id(3), `{"state":"disabled","holds":["operator"],"hold_until_ms":7}`)
	}, "I1", 3},
	{"a lease that never ends", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("leases"), zat(1e15, 4))
	}, "I1", 4},
	{"a token that is none", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("tokens"), id(4), "x")
	}, "I1", 4},
	{"due when time is over", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("due:candidate"), zat(math.Inf(1), 0))
	}, "I1", 0},
	{"a member that workers are never given", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("eligible"), zat(math.Inf(1), 1))
	}, "I6", 1},
	{"a member that workers are always given", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("eligible"), zat(-1e9, 1))
	}, "I6", 1},
	{"a count that is no number", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("counts"), "eligible", "many")
	}, "I4", -1},
	{"a count of no state", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("counts"), "asleep", "0")
	}, "I4", -1},
	{"a stray member", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZIncrBy(ctx, key("eligible"), 1, id(50))
	}, "I2", 50},
	{"a removed member brought back", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZIncrBy(ctx, key("eligible"), 1, id(2))
	}, "I2", 2},
	{"a member missing", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZRem(ctx, key("eligible"), id(1))
	}, "I2", 1},
	{"a count of the eligible too high", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HIncrBy(ctx, key("counts"), "eligible", 1)
		r.HIncrBy(ctx, key("counts"), "cooling", -1)
	}, "I4", -1},
	{"a count too low", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HIncrBy(ctx, key("counts"), "candidate", -1)
	}, "I4", -1},
	{"a record without a count", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("endpoints"), id(50), `{"state":"candidate"}`)
		r.ZAdd(ctx, key("due:candidate"), zat(5, 50))
	}, "I4", -1},
	{"lanes that hold one too few", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZRem(ctx, key("due:candidate"), id(0))
	}, "I4", -1},
	{"allocations counted in two places", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("endpoints"), id(1), `{"state":"eligible","allocations":4}`)
	}, "I6", 1},
	{"allocations below zero", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("endpoints"), id(2), `{"state":"cooling","allocations":-4}`)
	}, "I6", 2},
	{"a password in a record", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("urls"), id(2), "http://u:s%40cret@10.0.0.1:2")
		r.HSet(ctx, key("endpoints"), id(2), `{"state":"cooling","detail":"dial u:s@cret@10.0.0.1"}`)
	}, "I7", 2},
	{"an encoded password in a record", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("urls"), id(2), "http://u:s%40cret@10.0.0.1:2")
		r.HSet(ctx, key("endpoints"), id(2), `{"state":"cooling","detail":"sent Basic dTpzQGNyZXQ="}`)
	}, "I7", 2},
	{"an eligible one that is not in inflight", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZRem(ctx, key("inflight"), id(1))
	}, "I8", 1},
	{"jobs counted that nobody has", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("inflight"), zat(3, 1))
	}, "I8", 1},
	{"a job that is not counted", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("jobs"), redis.Z{Score: 1 << 40, Member: "1.60000.5:" + id(1)})
	}, "I8", 1},
	{"a job of one that is not eligible, not counted", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("jobs"), redis.Z{Score: 1 << 40, Member: "1.60000.5:" + id(2)})
	}, "I8", 2},
	{"jobs below zero", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("inflight"), zat(-2, 1))
	}, "I8", 1},
	{"half a job", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("inflight"), zat(0.5, 1))
	}, "I8", 1},
	{"endless jobs", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("inflight"), zat(1e300, 1))
	}, "I8", 1},
	{"a stray in inflight", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("inflight"), zat(0, 50))
	}, "I8", 50},
	{"a stray in inflight that would have jobs", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("inflight"), zat(2, 50))
	}, "I8", 50},
	{"a cooling one in inflight", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("inflight"), zat(0, 2))
	}, "I8", 2},
	{"engaged, yet without a job", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("engaged"), id(2), 4)
	}, "I8", 2},
	{"engaged with zero jobs", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("engaged"), id(2), 0)
	}, "I8", 2},
	{"engaged, yet nobody knows it", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("engaged"), id(50), 1)
	}, "I8", 50},
	{"engaged with no number", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("engaged"), id(2), "many")
	}, "I8", 2},
	{"engaged with nan, and a job", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("engaged"), id(2), "nan")
		r.ZAdd(ctx, key("jobs"), redis.Z{Score: 1 << 40, Member: "1.60000.5:" + id(2)})
	}, "I8", 2},
	{"eligible and engaged", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("engaged"), id(1), 1)
		r.ZAdd(ctx, key("jobs"), redis.Z{Score: 1 << 40, Member: "1.60000.5:" + id(1)})
	}, "I8", 1},
	{"a job that is no token", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("jobs"), redis.Z{Score: 1 << 40, Member: "work"}, redis.Z{Score: 5, Member: "1.2.3:"})
	}, "I8", -1},
	{"a job that never ends", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("jobs"), redis.Z{Score: math.Inf(1), Member: "1.60000.5:" + id(1)})
		r.ZAdd(ctx, key("inflight"), zat(1, 1))
	}, "I8", -1},
	{"a job with a password in it", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.ZAdd(ctx, key("jobs"), redis.Z{Score: 1 << 40, Member: "1.60000.5:http://u:pw@10.0.0.1:2"})
		r.HSet(ctx, key("engaged"), "http://u:pw@10.0.0.1:2", 1)
	}, "I8", -1},
	{"a password in an id", func(ctx context.Context, r redis.Cmdable, key func(string) string) {
		r.HSet(ctx, key("endpoints"), "http://u:pw@10.0.0.1:2", `{"state":"disabled","holds":["operator"]}`)
	}, "I7", -2},
}

// planted is the pool that wrongs are planted in.
func planted(t *testing.T, at place) *store.Pool {
	t.Helper()
	at.flush(t)
	p := at.store(t).Pool(check)
	plant(t, p, record.Candidate, 1, id(4))
	one(t, p)
	for i, state := range []record.State{record.Candidate, record.Eligible, record.Cooling, record.Disabled} {
		plant(t, p, state, 1<<45, id(i))
	}
	count(t, p)
	sound(t, p)
	return p
}

func TestFsckFindsWhatIsWrong(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		for _, c := range wrongs {
			t.Run(c.name, func(t *testing.T) {
				p := planted(t, at)
				c.plant(t.Context(), at.raw, at.key)
				about := "http://u@10.0.0.1:2" // as it may be shown
				if c.about >= 0 {
					about = id(c.about)
				} else if c.about == -1 {
					about = ""
				}
				r, err := p.Fsck(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				found, seen := false, map[store.Violation]bool{}
				for _, v := range r.Violations {
					found = found || v.Invariant == c.invariant && v.Endpoint == about
					if about != "" && v.Endpoint != "" && v.Endpoint != about || v.What == "" || seen[v] {
						t.Errorf("told %+v", v)
					}
					seen[v] = true
				}
				if !found {
					t.Errorf("no %s of %q in %+v", c.invariant, about, r.Violations)
				}
			})
		}
	})
}

// Daemons and operators work as hard as they can; fsck looks on.
func TestFsckRaisesNoFalseAlarm(t *testing.T) {
	at := real(t)
	p := at.pool(t)
	plant(t, p, record.Candidate, 1, ids(0, 300)...)
	count(t, p)
	end := time.Now().Add(2 * time.Second)
	going := func() bool { return time.Now().Before(end) }
	var work sync.WaitGroup
	var commits, amends, jobs atomic.Int64
	for range 2 {
		p := at.pool(t)
		work.Go(func() {
			for going() {
				jobs.Add(toil(t, t.Context(), p))
			}
		})
	}
	for d := range 3 {
		p := at.pool(t)
		work.Go(func() {
			for going() {
				commits.Add(probeAll(t, t.Context(), p, fmt.Sprint(d)))
			}
		})
	}
	for range 2 {
		p := at.pool(t)
		work.Go(func() {
			for going() {
				amends.Add(meddle(t, t.Context(), p))
			}
		})
	}
	rounds := 0
	for ; going() || rounds < 5; rounds++ {
		sound(t, p)
	}
	work.Wait()
	if commits.Load() < 500 || amends.Load() < 100 || jobs.Load() < 100 {
		t.Errorf("%d commits, %d amends, %d jobs, %d checks: too little to mean anything", commits.Load(), amends.Load(), jobs.Load(), rounds)
	}
}

// toil takes some jobs, ends most of them, in any order and some twice, and has the rest abandoned.
func toil(t *testing.T, ctx context.Context, p *store.Pool) (done int64) {
	var tokens []string
	for range 10 {
		j, ok, err := p.Acquire(ctx, time.Duration(1+rand.IntN(100))*time.Millisecond, rand.IntN(3))
		if err != nil {
			t.Error(err)
		}
		if ok {
			tokens = append(tokens, j.Token)
		}
	}
	rand.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
	for i, token := range tokens {
		if i%4 == 3 { // its worker died
			continue
		}
		for range 1 + i%2 {
			if _, err := p.Release(ctx, token); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := p.AbandonJobs(ctx); err != nil {
		t.Error(err)
	}
	return int64(len(tokens))
}

// probeAll claims and commits, gives back or abandons at random.
func probeAll(t *testing.T, ctx context.Context, p *store.Pool, daemon string) (done int64) {
	r := store.Claim{Daemon: daemon, Slots: 20, Lease: 50 * time.Millisecond, PerTick: 1000, Window: time.Second, Rate: 1e6, Alive: time.Second}
	g, err := p.Claim(ctx, r)
	if err != nil {
		t.Error(err)
		return 0
	}
	var changes []store.Change
	var back []store.Return
	states := []record.State{record.Eligible, record.Eligible, record.Cooling, record.Candidate}
	for _, l := range g.Leases {
		switch n := rand.IntN(10); {
		case n == 0: // lost
		case n == 1:
			back = append(back, store.Return{Lease: l, Delay: time.Duration(rand.IntN(2)) * time.Millisecond})
		default:
			changes = append(changes, move(l, states[rand.IntN(len(states))], g.Now, time.Duration(rand.IntN(30))*time.Millisecond))
		}
	}
	codes, err := p.Commit(ctx, store.Terms{Lease: r.Lease, Scores: scores}, changes)
	if backErr := p.GiveBack(ctx, r.Lease, back); err != nil || backErr != nil {
		t.Error(err, backErr)
	}
	for _, c := range codes {
		if c == store.Applied {
			done++
		}
	}
	return done
}

// meddle disables, enables, asks for, forgets and lists again what it meets.
func meddle(t *testing.T, ctx context.Context, p *store.Pool) (done int64) {
	some := ids(0, 300)
	rand.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	some = some[:20]
	entries, bad, err := p.Look(ctx, some)
	if err != nil || len(bad) > 0 {
		t.Error(err, bad)
		return 0
	}
	var changes []store.Change
	var forget []store.Entry
	for _, e := range entries {
		next := e.Record.Clone()
		tr := record.Transition{From: e.Record.State, To: record.Candidate, DueMs: 1, DelayMs: 1000}
		switch {
		case !e.Known() || e.Record.State == record.Disabled:
			next.Holds = nil
		case rand.IntN(3) == 0:
			forget = append(forget, e)
			continue
		default:
			tr.To, tr.DueMs, next.Holds = record.Disabled, 0, []record.Hold{record.Operator}
		}
		next.State = tr.To
		tr.Next = next
		changes = append(changes, store.Change{ID: e.ID, Old: e.Raw, Transition: tr, URL: "http://u:p@" + e.ID[7:]})
	}
	codes, amendErr := p.Amend(ctx, changes)
	_, forgetErr := p.Forget(ctx, record.ByOperator, forget)
	_, askErr := p.Recheck(ctx, rand.IntN(store.MaxPriority+1), some)
	if amendErr != nil || forgetErr != nil || askErr != nil {
		t.Error(amendErr, forgetErr, askErr)
	}
	for _, c := range codes {
		if c == store.Applied {
			done++
		}
	}
	return done
}

func TestFsckCountsWhatItChecked(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, ids(0, 450)...)
		if r, err := p.Fsck(t.Context()); err != nil || r.Checked != 450 || r.Violations == nil || len(r.Violations) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
