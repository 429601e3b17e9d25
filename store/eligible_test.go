package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/store"
	"proxyward/store/record"
)

const allocateLua = `local chosen = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
if not chosen then return nil end
redis.call('ZINCRBY', KEYS[1], 1, chosen)
return chosen
`

func TestTheAllocationScriptNeverChanges(t *testing.T) {
	got, err := os.ReadFile("lua/allocate.lua")
	if err != nil || string(got) != allocateLua {
		t.Errorf("%v, %s", err, got)
	}
}

// take is what a worker does, without proxyward.
func take(ctx context.Context, worker redis.Cmdable, key string) (string, error) {
	return worker.Eval(ctx, allocateLua, []string{key}).Text()
}

func TestWorkersTakeTheLeastAllocatedOfASetThatMayBeEmpty(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		if got, err := take(t.Context(), at.raw, at.key("eligible")); err != redis.Nil {
			t.Errorf("an empty pool gives %q, %v", got, err)
		}
		if _, _, ok, err := p.Allocate(t.Context()); ok || err != nil {
			t.Errorf("an empty pool: %v, %v", ok, err)
		}
		plant(t, p, record.Eligible, 1<<45, ids(0, 3)...)
		for i := range 7 {
			got, err := take(t.Context(), at.raw, at.key("eligible"))
			if err != nil || got != id(i%3) {
				t.Errorf("allocation %d: %s, %v, want %s", i, got, err, id(i%3))
			}
		}
		amendURL(t, p, id(1), "http://u:pw@10.0.0.1:10001")
		got, url, ok, err := p.Allocate(t.Context())
		if got != id(1) || url != "http://u:pw@10.0.0.1:10001" || !ok || err != nil {
			t.Error(got, url, ok, err)
		}
	})
}

func amendURL(t *testing.T, p *store.Pool, id, url string) {
	t.Helper()
	e := look(t, p, id)
	next := e.Record.Clone()
	next.URLRev++
	applied(t)(p.Amend(t.Context(), []store.Change{{ID: id, Old: e.Raw, URL: url,
		Transition: record.Transition{From: next.State, To: next.State, Next: next}}}))
}

func TestWhereAMemberEnters(t *testing.T) {
	cases := []struct {
		name      string
		kept      int64 // in its record
		others    []int64
		lastKnown int64
		scores    store.Scores
		want      int64
	}{
		{"new, at the pool's lowest", 0, []int64{90, 70}, 0, store.Scores{Initial: -1, Keep: true}, 70},
		{"new, at an agreed number", 0, []int64{90, 70}, 0, store.Scores{Initial: 12, Keep: true}, 12},
		{"new, at zero", 0, []int64{90, 70}, 0, store.Scores{Initial: 0, Keep: true}, 0},
		{"new, in an empty pool that never was", 0, nil, 0, store.Scores{Initial: -1, Keep: true}, 0},
		{"new, in an empty pool", 0, nil, 55, store.Scores{Initial: -1, Keep: true}, 55},
		{"returning with less", 3, []int64{90, 70}, 0, store.Scores{Initial: 0, Keep: true}, 70},
		{"returning with more", 80, []int64{90, 70}, 0, store.Scores{Initial: 0, Keep: true}, 80},
		{"returning with more, by the policy min", 80, []int64{90, 70}, 0, store.Scores{Initial: 0}, 70},
		{"returning to an empty pool", 3, nil, 55, store.Scores{Keep: true}, 55},
		{"returning beside a stray one at 1", 3, []int64{90, 1}, 80, store.Scores{Keep: true}, 80},
		{"large numbers", 1 << 52, []int64{1 << 51}, 0, store.Scores{Keep: true}, 1 << 52},
	}
	contract(t, func(t *testing.T, at place) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				at.flush(t)
				p := at.pool(t)
				for i, score := range c.others {
					plant(t, p, record.Eligible, 1<<45, id(10+i))
					at.raw.ZAddXX(t.Context(), at.key("eligible"), redis.Z{Score: float64(score), Member: id(10 + i)})
				}
				at.raw.HSet(t.Context(), at.key("meta"), "lowest", c.lastKnown)
				plant(t, p, record.Cooling, 1, id(0))
				if c.kept > 0 {
					amend(t, p, id(0), record.Cooling, 0, func(r *record.Record) { r.Allocations = c.kept })
				}
				l := one(t, p)
				codes, err := p.Commit(t.Context(), store.Terms{Lease: time.Second, Scores: c.scores}, []store.Change{move(l, record.Eligible, now(t, p), time.Hour)})
				applied(t)(codes, err)
				e := look(t, p, id(0))
				if !e.Member || e.Score != c.want || e.Record.Allocations != 0 || e.Allocations() != c.want {
					t.Errorf("entered at %d (record keeps %d), want %d", e.Score, e.Record.Allocations, c.want)
				}
			})
		}
	})
}

func TestWhoLeavesKeepsItsAllocations(t *testing.T) {
	for _, score := range []int64{0, 1, 12345, 1<<53 - 1} {
		for _, by := range []string{"probe", "operator"} {
			t.Run(fmt.Sprintf("%d by %s", score, by), func(t *testing.T) {
				contract(t, func(t *testing.T, at place) {
					p := at.pool(t)
					plant(t, p, record.Eligible, 1, id(0))
					at.raw.ZAddXX(t.Context(), at.key("eligible"), redis.Z{Score: float64(max(score-1, 0)), Member: id(0)})
					l := one(t, p)
					if score > 0 { // a worker, between claim and commit
						if got, err := take(t.Context(), at.raw, at.key("eligible")); err != nil || got != id(0) {
							t.Fatal(got, err)
						}
					}
					if by == "operator" {
						disable(t, p, id(0))
					} else {
						applied(t)(commit(t, p, move(l, record.Cooling, now(t, p), time.Hour)), nil)
					}
					e := look(t, p, id(0))
					if e.Member || e.Record.Allocations != score || e.Allocations() != score {
						t.Errorf("kept %d, want %d; member: %v", e.Record.Allocations, score, e.Member)
					}
					if strings.Contains(e.Raw, "allocations") != (score > 0) {
						t.Errorf("record %s", e.Raw)
					}
				})
			})
		}
	}
}

// What a worker that breaks the rules can write into the set must not break a record.
func TestScoresThatNoScriptWrites(t *testing.T) {
	for score, want := range map[string]int64{"-5": 0, "+inf": 1<<53 - 1, "1e300": 1<<53 - 1, "2.25": 2} {
		t.Run(score, func(t *testing.T) {
			at := real(t) // miniredis does not carry such numbers into scripts
			p := at.pool(t)
			plant(t, p, record.Eligible, 1, id(0))
			if err := at.raw.Do(t.Context(), "ZADD", at.key("eligible"), "XX", score, id(0)).Err(); err != nil {
				t.Fatal(err)
			}
			applied(t)(commit(t, p, move(one(t, p), record.Cooling, now(t, p), time.Hour)), nil)
			if e := look(t, p, id(0)); e.Record.Allocations != want {
				t.Errorf("kept %d, want %d", e.Record.Allocations, want)
			}
		})
	}
}

func TestStayingInTheSetLeavesTheScoreToTheWorkers(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, 1, id(0))
		l := one(t, p)
		for range 3 {
			if _, err := take(t.Context(), at.raw, at.key("eligible")); err != nil {
				t.Fatal(err)
			}
		}
		applied(t)(commit(t, p, move(l, record.Eligible, now(t, p), time.Hour)), nil)
		if e := look(t, p, id(0)); e.Score != 3 || !e.Member {
			t.Errorf("score %d, want 3", e.Score)
		}
	})
}

// 8 workers take 5,000 each from 100 members.
func TestAllocationIsFair(t *testing.T) {
	for _, c := range []struct {
		name  string
		leave bool // members leave and return meanwhile
	}{{"all present", false}, {"members leave and return", true}} {
		t.Run(c.name, func(t *testing.T) {
			at := real(t)
			p := at.pool(t)
			const members, coming, workers, each = 100, 20, 8, 5000
			plant(t, p, record.Eligible, 1<<45, ids(0, members)...)
			done := make(chan struct{})
			var work, traffic sync.WaitGroup
			for range workers {
				work.Go(func() {
					for range each / 20 {
						_, err := at.raw.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
							for range 20 {
								pipe.Eval(t.Context(), allocateLua, []string{at.key("eligible")})
							}
							return nil
						})
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			turns := 0
			if c.leave {
				traffic.Go(func() { turns = comeAndGo(t, p, ids(0, coming), done) })
			}
			work.Wait()
			close(done)
			traffic.Wait()
			all, err := at.raw.ZRangeWithScores(t.Context(), at.key("eligible"), 0, -1).Result()
			if err != nil || len(all) != members {
				t.Fatal(len(all), err)
			}
			low, high, sum := 1e18, 0.0, 0.0
			for _, z := range all {
				sum += z.Score
				if c.leave && z.Member.(string) < id(coming) {
					continue
				}
				low, high = min(low, z.Score), max(high, z.Score)
			}
			if high-low > 1 {
				t.Errorf("scores from %.0f to %.0f", low, high)
			}
			if !c.leave && sum != workers*each || c.leave && turns < 10 {
				t.Errorf("%.0f allocations counted, %d returns", sum, turns)
			}
		})
	}
}

// comeAndGo takes members out and brings them back, until done.
func comeAndGo(t *testing.T, p *store.Pool, ids []string, done chan struct{}) (turns int) {
	out := func(id string, from, to record.State, due int64) {
		entries, _, err := p.Look(context.Background(), []string{id})
		if err != nil {
			t.Error(err)
			return
		}
		next := entries[0].Record.Clone()
		next.State = to
		codes, err := p.Amend(context.Background(), []store.Change{{ID: id, Old: entries[0].Raw,
			Transition: record.Transition{From: from, To: to, Next: next, DueMs: due, DelayMs: 1 << 50}}})
		if err != nil || codes[0] != store.Applied {
			t.Error(codes, err)
		}
	}
	for ; ; turns++ {
		select {
		case <-done:
			return turns
		default:
		}
		id := ids[rand.IntN(len(ids))]
		out(id, record.Eligible, record.Cooling, 1<<45)
		time.Sleep(time.Millisecond) // the workers go on meanwhile
		out(id, record.Cooling, record.Eligible, 1<<45)
	}
}

func TestWhoReturnsIsNotFlooded(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		const members = 50
		plant(t, p, record.Eligible, 1<<45, ids(0, members)...)
		amend(t, p, id(7), record.Cooling, 1, nil)
		for i := range members {
			at.raw.ZAddXX(t.Context(), at.key("eligible"), redis.Z{Score: 10_000, Member: id(i)})
		}
		applied(t)(commit(t, p, move(one(t, p), record.Eligible, now(t, p), time.Hour)), nil)
		got := 0
		for range 100 {
			who, err := take(t.Context(), at.raw, at.key("eligible"))
			if err != nil {
				t.Fatal(err)
			}
			if who == id(7) {
				got++
			}
		}
		if got < 1 || got > 2 {
			t.Errorf("the one that returned took %d of the next 100, want its share, 2 at most", got)
		}
	})
}
