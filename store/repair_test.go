package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
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

func integer(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func repair(t testing.TB, p *store.Pool) store.Report {
	t.Helper()
	r, err := p.Repair(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mended fails the test if something is wrong that was not mended.
func mended(t testing.TB, r store.Report) {
	t.Helper()
	for _, v := range r.Violations {
		if !v.Mended {
			t.Errorf("not mended: %s %s: %s", v.Invariant, v.Endpoint, v.What)
		}
	}
}

func TestWhateverIsWrongIsMended(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		for _, c := range wrongs {
			t.Run(c.name, func(t *testing.T) {
				p := planted(t, at)
				c.plant(t.Context(), at.raw, at.key)
				before, err := p.Fsck(t.Context())
				if err != nil || len(before.Violations) == 0 {
					t.Fatal(before, err)
				}
				r := repair(t, p)
				mended(t, r)
				for _, v := range before.Violations {
					v.Mended = true
					if v.Endpoint != "" && !slices.Contains(r.Violations, v) { // the counts may be right once the endpoints are
						t.Errorf("mended %+v\nof %+v", r.Violations, before.Violations)
					}
				}
				sound(t, p)
				for i := range 5 {
					if e := look(t, p, id(i)); !e.Known() {
						t.Errorf("endpoint %d is lost", i)
					}
				}
				counts, err := p.Repaired(t.Context())
				if err != nil || len(counts) == 0 || c.about >= 0 && counts[c.invariant] == 0 {
					t.Errorf("counted as mended: %v, %v", counts, err)
				}
				if again := repair(t, p); len(again.Violations) > 0 {
					t.Errorf("mended again: %+v", again.Violations)
				}
			})
		}
	})
}

// afterRepair says how an endpoint stands once what is wrong with it was mended.
var afterRepair = []struct {
	name  string
	plant func(ctx context.Context, r redis.Cmdable, key func(string) string, now int64)
	about int
	want  string // state, where it waits, score or kept allocations
	step  string // the history's last step: from to by; empty: none
}{
	{"a stray takes its allocations along", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.ZAdd(ctx, key("eligible"), zat(70, 2))
	}, 2, "cooling, recovery 35184372088832, 70", "cooling cooling repair"},
	{"a stray that was brought back keeps the larger count", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.HSet(ctx, key("endpoints"), id(2), `{"state":"cooling","allocations":500}`)
		r.ZIncrBy(ctx, key("eligible"), 1, id(2))
	}, 2, "cooling, recovery 35184372088832, 500", "cooling cooling repair"},
	{"an eligible one that is missing enters at its kept count", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.HSet(ctx, key("endpoints"), id(1), `{"state":"eligible","allocations":900}`)
		r.ZRem(ctx, key("eligible"), id(1))
	}, 1, "eligible, recheck 35184372088832, 900", "eligible eligible repair"},
	{"never under the lowest score known", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.HSet(ctx, key("meta"), "lowest", 40)
		r.ZRem(ctx, key("eligible"), id(1))
	}, 1, "eligible, recheck 35184372088832, 40", "eligible eligible repair"},
	{"allocations that the set counts are dropped", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.ZAdd(ctx, key("eligible"), zat(33, 1))
		r.HSet(ctx, key("endpoints"), id(1), `{"state":"eligible","allocations":4}`)
	}, 1, "eligible, recheck 35184372088832, 33", "eligible eligible repair"},
	{"one in no lane is due now, and its record is as it was", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.ZRem(ctx, key("due:recheck"), id(1))
	}, 1, "eligible, recheck in 0m, 0", ""},
	{"a cooling one in no lane is due when its pause is over", func(ctx context.Context, r redis.Cmdable, key func(string) string, now int64) {
		r.HSet(ctx, key("endpoints"), id(2), fmt.Sprintf(`{"state":"cooling","pause_ms":900000,"until_ms":%d}`, now+600_000))
		r.ZRem(ctx, key("due:recovery"), id(2))
	}, 2, "cooling, recovery in 10m, 0", ""},
	{"unless that is further away than the pause", func(ctx context.Context, r redis.Cmdable, key func(string) string, now int64) {
		r.HSet(ctx, key("endpoints"), id(2), fmt.Sprintf(`{"state":"cooling","pause_ms":900000,"until_ms":%d}`, now+6_000_000))
		r.ZRem(ctx, key("due:recovery"), id(2))
	}, 2, "cooling, recovery in 0m, 0", ""},
	{"what was asked for stays so", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.ZAdd(ctx, key("due:urgent"), zat(77, 1))
	}, 1, "eligible, urgent 77, 0", ""},
	{"a probe under way goes on", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.ZAdd(ctx, key("due:candidate"), zat(77, 4))
	}, 4, "candidate, leased, then candidate.in 0m, 0", ""},
	{"a lease without a token is over", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.HDel(ctx, key("tokens"), id(4))
	}, 4, "candidate, candidate in 0m, 0", ""},
	{"an unreadable record is that of a candidate", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.ZAdd(ctx, key("eligible"), zat(12, 1))
		r.HSet(ctx, key("endpoints"), id(1), `{"state":"eligible","sour`)
	}, 1, "candidate, candidate in 0m, 12", " candidate repair"},
	{"an unreadable record of one that is held stays held", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.HSet(ctx, key("endpoints"), id(3), `{"state":"gone","holds":["operator"],"note":"keep out","allocations":3}`)
	}, 3, "disabled, nowhere, 3", " disabled repair"},
	{"disabled without a hold: a candidate", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.HSet(ctx, key("endpoints"), id(3), `{"state":"disabled"}`)
	}, 3, "candidate, candidate in 0m, 0", "disabled candidate repair"},
	{"held: disabled, whatever the state", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.ZAdd(ctx, key("eligible"), zat(5, 1))
		r.HSet(ctx, key("endpoints"), id(1), `{"state":"eligible","holds":["operator"]}`)
	}, 1, "disabled, nowhere, 5", "eligible disabled repair"},
	{"held while it is probed: the lease goes on", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.HSet(ctx, key("endpoints"), id(4), `{"state":"candidate","holds":["operator"]}`)
	}, 4, "disabled, leased, then disabled.0, 0", "candidate disabled repair"},
	{"an endless score becomes the lowest", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.ZAdd(ctx, key("eligible"), redis.Z{Score: 1e300, Member: id(1)})
		r.HSet(ctx, key("meta"), "lowest", 8)
	}, 1, "eligible, recheck 35184372088832, 8", ""},
}

func TestHowEachStandsAfterARepair(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		for _, c := range afterRepair {
			t.Run(c.name, func(t *testing.T) {
				p := planted(t, at)
				begin := now(t, p)
				c.plant(t.Context(), at.raw, at.key, begin)
				mended(t, repair(t, p))
				sound(t, p)
				e := look(t, p, id(c.about))
				got := fmt.Sprintf("%s, %s, %d", e.Record.State, waits(e), e.Allocations())
				got = regexp.MustCompile(`\b\d{13}\b`).ReplaceAllStringFunc(got, func(ms string) string {
					return "in " + strconv.FormatInt((integer(ms)-begin)/60_000, 10) + "m"
				})
				if got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				step := ""
				if h := e.Record.History; len(h) > 0 {
					last := h[len(h)-1]
					step = fmt.Sprintf("%s %s %s", last.From, last.To, last.By)
					if last.Detail == "" || last.AtMs < begin {
						t.Errorf("the step tells too little: %+v", last)
					}
				}
				if step != c.step {
					t.Errorf("the last step is %q, want %q", step, c.step)
				}
				events, _, err := p.Events(t.Context(), "0", 100)
				if err != nil || len(events) != 1 || events[0]["by"] != "repair" || events[0]["endpoint"] != id(c.about) || events[0]["to"] != string(e.Record.State) {
					t.Errorf("told %v, %v", events, err)
				}
			})
		}
	})
}

func TestARepairLeavesNoPasswordBehind(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := planted(t, at)
		ctx := t.Context()
		at.raw.HSet(ctx, at.key("endpoints"), "http://joe:Pa55@10.0.0.9:2", `{"state":"eligible","sources":["file:l"]}`)
		at.raw.ZAdd(ctx, at.key("eligible"), redis.Z{Score: 5, Member: "http://joe:Pa55@10.0.0.9:2"})
		at.raw.HSet(ctx, at.key("urls"), id(2), "http://joe:Pa55@10.0.0.1:2")
		at.raw.HSet(ctx, at.key("endpoints"), id(2), `{"state":"cooling","detail":"no way to http://joe:Pa55@10.0.0.1:2","note":"am9lOlBhNTU=",`+
			`"sources":["url:http://joe:Pa55@10.0.0.1:2"],"classes":{":Pa55@":{"n":1,"at_ms":1}},"history":[{"to":"cooling","detail":":Pa55@","by":"probe","at_ms":1}]}`)
		mended(t, repair(t, p))
		sound(t, p)
		e := look(t, p, "http://joe@10.0.0.9:2")
		if e.Record.State != record.Candidate || e.URL != "http://joe:Pa55@10.0.0.9:2" || !slices.Equal(e.Record.Sources, []string{"file:l"}) {
			t.Errorf("under its proper name: %+v", e)
		}
		for _, key := range at.raw.Keys(ctx, "*").Val() {
			text := ""
			switch at.raw.Type(ctx, key).Val() {
			case "hash":
				text = fmt.Sprint(at.raw.HGetAll(ctx, key).Val())
			case "zset":
				text = fmt.Sprint(at.raw.ZRange(ctx, key, 0, -1).Val())
			case "stream":
				text = fmt.Sprint(at.raw.XRange(ctx, key, "-", "+").Val())
			}
			if key != at.key("urls") && (strings.Contains(text, "Pa55") || strings.Contains(text, "am9lOlBhNTU=")) {
				t.Errorf("%s has the password: %s", key, text)
			}
		}
	})
}

// What is lost with its record comes back if a list names it: lists are read again.
func TestAfterALossListsAreReadAgain(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		for name, c := range map[string]struct {
			spoil func(ctx context.Context)
			again bool
		}{
			"a record gone":       {func(ctx context.Context) { at.raw.HDel(ctx, at.key("endpoints"), id(0)) }, true},
			"a record unreadable": {func(ctx context.Context) { at.raw.HSet(ctx, at.key("endpoints"), id(0), "?") }, true},
			"a stray member":      {func(ctx context.Context) { at.raw.ZAdd(ctx, at.key("eligible"), zat(1, 50)) }, false},
		} {
			p := planted(t, at)
			if err := p.SourceApplied(t.Context(), "file:l", "v1"); err != nil {
				t.Fatal(err)
			}
			c.spoil(t.Context())
			mended(t, repair(t, p))
			_, digest, err := p.HoldSource(t.Context(), "file:l", "d", time.Second)
			if err != nil || (digest == "") != c.again {
				t.Errorf("%s: the list's last version is %q, %v", name, digest, err)
			}
		}
	})
}

func TestTheSameRepairAgainTakesOneStepOfTheHistory(t *testing.T) {
	at := real(t)
	p := planted(t, at)
	for range 8 {
		at.raw.ZIncrBy(t.Context(), at.key("eligible"), 1, id(2))
		mended(t, repair(t, p))
	}
	if h := look(t, p, id(2)).Record.History; len(h) != 1 {
		t.Errorf("%d steps: %+v", len(h), h)
	}
}

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
		r.HIncrBy(ctx, key("counts"), string(record.States[n%5]), int64(n%7-3))
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.ZAdd(ctx, key("holds"), redis.Z{Score: float64(n), Member: id})
	},
	func(ctx context.Context, r redis.Cmdable, key func(string) string, id string, n int) {
		r.HSet(ctx, key("urls"), "http://10.9.9.9:"+strconv.Itoa(n+1), "http://u:p@10.9.9.9:1")
	},
}

var lanes = []string{"due:urgent", "due:recovery", "due:recheck", "due:candidate"}

// Whatever anybody does to the keys, a repair makes the pool sound and loses nobody.
func TestAnythingSpoiltIsMended(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		if at.guarded {
			return
		}
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
	})
}

// Daemons work as hard as they can while somebody spoils the pool and sweeps mend it.
func TestSweepsMendWhileDaemonsWork(t *testing.T) {
	at := real(t)
	p := at.store(t).Pool(check)
	plant(t, p, record.Candidate, 1, ids(0, 300)...)
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
						t.Error(err)
						return
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
	if _, err := p.Commit(ctx, r.Lease, scores, store.Floor{}, changes); err != nil {
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
