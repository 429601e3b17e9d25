package store_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

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
					same := func(m store.Violation) bool { // where jobs are counted twice wrongly, one move mends both
						return m == v || v.Invariant == "I8" && m.Invariant == "I8" && m.Endpoint == v.Endpoint && m.Mended
					}
					if v.Endpoint != "" && !slices.ContainsFunc(r.Violations, same) { // the counts may be right once the endpoints are
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
		r.HSet(ctx, key("endpoints"), id(1), `{"state":"eligible","allocations":900,"last_ok_ms":1}`)
		r.ZRem(ctx, key("eligible"), id(1))
	}, 1, "eligible, recheck 35184372088832, 900", "eligible eligible repair"},
	{"a record that says eligible of one that never passed makes nobody so", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.HSet(ctx, key("endpoints"), id(2), `{"state":"eligible"}`)
	}, 2, "candidate, candidate in 0m, 0", "eligible candidate repair"},
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
	{"a stray's endless score is not kept", func(ctx context.Context, r redis.Cmdable, key func(string) string, _ int64) {
		r.ZAdd(ctx, key("eligible"), redis.Z{Score: math.Inf(1), Member: id(2)})
	}, 2, "cooling, recovery 35184372088832, 0", "cooling cooling repair"},
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
			`"sources":["url:http://joe:Pa55@10.0.0.1:2"],"classes":{":Pa55@":{"n":1,"at_ms":1}},"history":[{"to":"cooling","detail":":Pa55@","by":"probe","at_ms":1,"probe":":Pa55@"}]}`)
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
			_, digest, err := p.HoldSource(t.Context(), "file:l", "d", time.Second, false)
			if err != nil || (digest == "") != c.again {
				t.Errorf("%s: the list's last version is %q, %v", name, digest, err)
			}
		}
	})
}

func TestTheSameRepairAgainTakesOneStepOfTheHistory(t *testing.T) {
	at := real(t)
	p := planted(t, at)
	before := record.Step{To: record.Cooling, By: record.ByProbe, AtMs: 1, Probe: "0a1b2c3d4e5f6071-18"}
	amend(t, p, id(2), record.Cooling, now(t, p)+60_000, func(r *record.Record) {
		r.UntilMs, r.PauseMs, r.History = now(t, p)+60_000, 60_000, []record.Step{before}
	})
	for range 8 {
		at.raw.ZIncrBy(t.Context(), at.key("eligible"), 1, id(2))
		mended(t, repair(t, p))
	}
	if h := look(t, p, id(2)).Record.History; len(h) != 2 || h[0] != before || h[1].By != record.ByRepair {
		t.Errorf("%d steps: %+v", len(h), h)
	}
}
