package store_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"proxyward/store"
	"proxyward/store/record"
)

// vandals are the ways in which somebody spoils a pool behind the daemons' back.
var vandals = []func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int){
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZIncrBy(ctx, key("eligible"), 1, id)
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZRem(ctx, key("eligible"), id)
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZAdd(ctx, key("eligible"), redis.Z{Score: float64(n), Member: "http://10.9.9.9:" + strconv.Itoa(n+1)})
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZRem(ctx, key(lanes[n%4]), id)
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZAdd(ctx, key(lanes[n%4]), redis.Z{Score: float64(n), Member: id})
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HDel(ctx, key("tokens"), id)
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZRem(ctx, key("leases"), id)
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HSet(ctx, key("tokens"), id, "recheck.5.stranger")
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HSet(ctx, key("endpoints"), id, `{"state":"eli`)
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HSet(ctx, key("endpoints"), id, fmt.Sprintf(`{"state":%q,"allocations":%d}`, record.States[n%5], n))
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HSet(ctx, key("tokens"), id, []string{"recheck", "candidate.", ".", "recovery.x.y", "recheck.-1.y"}[n%5])
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		odd := []string{"-7", "9223372036854775807", "9007199254740992"}[n%3]
		r.HSet(ctx, key("endpoints"), id, fmt.Sprintf(`{"state":%q,"holds":["operator"],%q:%s}`, record.States[n%5],
			[]string{"hold_until_ms", "allocations", "until_ms", "pause_ms"}[n%4], odd))
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZAdd(ctx, key("eligible"), redis.Z{Score: []float64{math.Inf(1), -1, 1 << 60, 0.5}[n%4], Member: id})
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZAdd(ctx, key("leases"), redis.Z{Score: []float64{math.Inf(1), -1, 1 << 60, 0.5}[n%4], Member: id})
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HSet(ctx, key("counts"), string(record.States[n%5]), "many")
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HIncrBy(ctx, key("counts"), string(record.States[n%5]), int64(n%7-3))
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZAdd(ctx, key("holds"), redis.Z{Score: float64(n), Member: id})
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HSet(ctx, key("urls"), "http://10.9.9.9:"+strconv.Itoa(n+1), "http://u:p@10.9.9.9:1")
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZAdd(ctx, key("inflight"), redis.Z{Score: []float64{math.Inf(1), -1, 1 << 60, 0.5, 0, 1, 7}[n%7], Member: id})
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZRem(ctx, key("inflight"), id)
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HSet(ctx, key("engaged"), id, []string{"-1", "0", "3", "nan", "inf", "x", "99999999999999999999"}[n%7])
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		member := []string{"x", "1.60000." + strconv.Itoa(n) + ":" + id, "1.99999999999999999999.1:" + id, "1.5.2:", ""}[n%5]
		r.ZAdd(ctx, key("jobs"), redis.Z{Score: []float64{math.Inf(1), -1, 1 << 60, 0.5, 1 << 40}[n%5], Member: member})
	},
}

var lanes = []string{"due:urgent", "due:recovery", "due:recheck", "due:candidate"}

// Whatever anybody does to the keys, a repair makes the pool sound and loses nobody.
func TestAnythingSpoiltIsMended(t *testing.T) {
	at := real(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := planted(t, at)
		for range rapid.IntRange(1, 12).Draw(rt, "blows") {
			v := rapid.IntRange(0, len(vandals)-1).Draw(rt, "vandal")
			vandals[v](t.Context(), at.raw, at.key, id(rapid.IntRange(0, 4).Draw(rt, "endpoint")), rapid.IntRange(0, 60000).Draw(rt, "n"))
		}
		r, err := p.Repair(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		for _, v := range r.Violations {
			if !v.Mended {
				rt.Errorf("not mended: %+v", v)
			}
		}
		rest, err := p.Fsck(t.Context())
		if err != nil || len(rest.Violations) > 0 || rest.Checked != 5 {
			rt.Errorf("after the repair: %+v, %v", rest, err)
		}
	})
}

// Daemons work as hard as they can while somebody spoils the pool and sweeps mend it.
func TestSweepsMendWhileDaemonsWork(t *testing.T) {
	at := real(t)
	p := at.store(t).Pool(check)
	plant(t, p, record.Candidate, 1, ids(0, 300)...)
	count(t, p)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var traffic, spoiling sync.WaitGroup
	for d := range 2 {
		p := at.store(t).Pool(check)
		traffic.Go(func() {
			for ctx.Err() == nil {
				probeSpoilt(t, p, fmt.Sprint(d))
			}
		})
	}
	spoiling.Go(func() {
		for ctx.Err() == nil {
			vandals[rand.IntN(len(vandals))](context.Background(), at.raw, at.key, id(rand.IntN(300)), rand.IntN(60000))
			time.Sleep(time.Millisecond)
			if n, err := p.Repaired(context.Background()); err != nil || n["I1"] > 100 && n["I2"] > 50 {
				stop()
			}
		}
	})
	for range 2 {
		p := at.store(t).Pool(check)
		traffic.Go(func() {
			for s := p.NewSweep(); ctx.Err() == nil; s = p.NewSweep() {
				for !s.Done() {
					if _, err := s.Step(context.Background(), 200); err != nil {
						if !strings.Contains(err.Error(), "a count is no number") { // spoilt since the sweep began: it begins anew
							t.Error(err)
						}
						break
					}
				}
			}
		})
	}
	spoiling.Wait()
	traffic.Wait()
	mended(t, repair(t, p))
	sound(t, p)
	entries, bad, err := p.Look(t.Context(), ids(0, 300))
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	for _, e := range entries {
		if !e.Known() {
			t.Errorf("%s is lost", e.ID)
		}
	}
	counts, err := p.Repaired(t.Context())
	if err != nil || counts["I1"] < 100 || counts["I2"] < 50 {
		t.Errorf("mended %v, %v: too little to mean anything", counts, err)
	}
}

// probeSpoilt claims and commits in a pool that somebody spoils: refusals are as they may be.
func probeSpoilt(t *testing.T, p *store.Pool, daemon string) {
	ctx := context.Background()
	r := store.Claim{Daemon: daemon, Slots: 20, Lease: 50 * time.Millisecond, PerTick: 1000, Window: time.Second, Rate: 1e6, Alive: time.Second}
	g, err := p.Claim(ctx, r)
	if err != nil {
		t.Error(err)
		return
	}
	states := []record.State{record.Eligible, record.Cooling, record.Candidate}
	var changes []store.Change
	for _, l := range g.Leases {
		if l.Record.State != record.Disabled {
			changes = append(changes, move(l, states[rand.IntN(3)], g.Now, 5*time.Millisecond))
		}
	}
	if _, err := p.Commit(ctx, store.Terms{Lease: r.Lease, Scores: scores}, changes); err != nil && !strings.Contains(err.Error(), "not an integer") &&
		!strings.Contains(err.Error(), "not a number in range") { // a count or a record is spoilt
		t.Error(err)
	}
}

// The counts are corrected while they change all the time, and come out exact.
func TestCountsAreCorrectedWhileDaemonsWork(t *testing.T) {
	at := real(t)
	p := at.store(t).Pool(check)
	plant(t, p, record.Candidate, 1, ids(0, 300)...)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var traffic sync.WaitGroup
	for d := range 3 {
		p := at.store(t).Pool(check)
		traffic.Go(func() {
			for ctx.Err() == nil {
				probeAll(t, context.Background(), p, fmt.Sprint(d))
			}
		})
	}
	traffic.Go(func() {
		p := at.store(t).Pool(check)
		for ctx.Err() == nil {
			meddle(t, context.Background(), p)
		}
	})
	for range 8 {
		for _, s := range []string{"candidate", "eligible", "cooling", "disabled"} {
			at.raw.HIncrBy(t.Context(), at.key("counts"), s, int64(rand.IntN(9)-4))
		}
		var both sync.WaitGroup
		for range 2 { // two at once correct it once
			both.Go(func() {
				for s := p.NewSweep(); !s.Done(); {
					if sum, err := s.Step(context.Background(), 1000); err != nil || slices.ContainsFunc(sum.Violations, func(v store.Violation) bool { return v.Invariant != "I4" || !v.Mended }) {
						t.Error(sum, err)
						return
					}
				}
			})
		}
		both.Wait()
		sound(t, p)
	}
	stop()
	traffic.Wait()
	truth := map[string]int64{}
	if err := p.Scan(t.Context(), func(entries []store.Entry, _ []error) error {
		for _, e := range entries {
			truth[string(e.Record.State)]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for s, n := range at.raw.HGetAll(t.Context(), at.key("counts")).Val() {
		if n != fmt.Sprint(truth[s]) {
			t.Errorf("counts say %s %s, there are %d", n, s, truth[s])
		}
	}
	if n, err := p.Repaired(t.Context()); err != nil || n["I4"] < 8 {
		t.Errorf("corrected %v times, %v: too little to mean anything", n, err)
	}
}

// Cooling and permitted stand in the same places: only a look at the records tells them apart.
func TestCountsOfTrialsAreCorrectedWhileThePoolStandsStill(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Cooling, 1<<45, ids(0, 5)...)
		plant(t, p, record.Permitted, 1<<45, ids(5, 8)...)
		at.raw.HSet(t.Context(), at.key("counts"), "cooling", 7, "permitted", 1)
		mended(t, repair(t, p))
		if got := fmt.Sprint(at.raw.HGetAll(t.Context(), at.key("counts")).Val()); got != "map[cooling:5 permitted:3]" {
			t.Error(got)
		}
	})
}
