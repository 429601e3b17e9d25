package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store/record"
)

func open(t *testing.T, url string) *Pool {
	t.Helper()
	s, err := Open(Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Pool("c")
}

func clean(t *testing.T, p *Pool) Report {
	t.Helper()
	r, err := p.Fsck(context.Background())
	if err != nil || len(r.Violations) > 0 {
		t.Fatal(r, err)
	}
	return r
}

func enrollSome(t *testing.T, p *Pool, n int) {
	t.Helper()
	var changes []Change
	for i := range n {
		changes = append(changes, Change{ID: fmt.Sprintf("http://10.0.0.1:%d", 10000+i), Transition: record.Transition{To: record.Candidate,
			Next: record.Record{State: record.Candidate, Note: "first"}, DueMs: 1, DelayMs: 1}})
	}
	if _, err := p.Amend(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
}

func TestANewPoolGetsTheSchema(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p, raw := open(t, url), testenv.Client(t, url)
		for round, wantBare := range []bool{true, false, false} {
			if bare, err := p.Fit(t.Context()); err != nil || bare != wantBare {
				t.Errorf("call %d: bare %v, %v", round, bare, err)
			}
			if round == 1 {
				enrollSome(t, p, 3)
			}
		}
		if got := raw.HGet(t.Context(), p.keys.meta(), "schema").Val(); got != fmt.Sprint(Schema) {
			t.Errorf("schema %q", got)
		}
		raw.FlushAll(t.Context())
		if bare, err := p.Fit(t.Context()); err != nil || !bare {
			t.Errorf("after a loss of everything: bare %v, %v", bare, err)
		}
	})
}

func TestANewerPoolIsRefused(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p, raw := open(t, url), testenv.Client(t, url)
		enrollSome(t, p, 1)
		raw.HSet(t.Context(), p.keys.meta(), "schema", Schema+1)
		_, err := p.Fit(t.Context())
		for _, err := range []error{err, p.Known(t.Context())} {
			var newer ErrNewer
			if !errors.As(err, &newer) || newer.Pool != Schema+1 || !strings.Contains(err.Error(), fmt.Sprintf("schema %d, this proxyward knows schemas up to %d: run", Schema+1, Schema)) {
				t.Errorf("%v", err)
			}
		}
		raw.HSet(t.Context(), p.keys.meta(), "schema", "two") // as if none were written down
		if _, err := p.Fit(t.Context()); err != nil || raw.HGet(t.Context(), p.keys.meta(), "schema").Val() != strconv.Itoa(Schema) {
			t.Errorf("%v", err)
		}
	})
}

// pool-v1.jsonl is a pool as the last version without a schema wrote it: `proxyward demo`,
// with two endpoints imported and one disabled for two hours.
func TestAPoolOfTheFirstSchemaIsTakenOver(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p, raw := open(t, url), testenv.Client(t, url)
		replay(t, raw, "testdata/pool-v1.jsonl")
		if r := clean(t, p); r.Checked != 14 {
			t.Fatalf("%d endpoints", r.Checked)
		}
		before := raw.HGetAll(t.Context(), p.keys.endpoints()).Val()
		if bare, err := p.Fit(t.Context()); err != nil || !bare {
			t.Fatal(bare, err)
		}
		if got := raw.HGet(t.Context(), p.keys.meta(), "schema").Val(); got != fmt.Sprint(Schema) {
			t.Errorf("schema %q", got)
		}
		if after := raw.HGetAll(t.Context(), p.keys.endpoints()).Val(); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Error("records changed")
		}
		for _, field := range []string{"offset", "high"} { // a day later all but the disabled one are due
			raw.HIncrBy(t.Context(), p.keys.clock(), field, 24*3600_000)
		}
		probed := map[string]bool{}
		testenv.Eventually(t, 20*time.Second, "13 probed", func() bool {
			g, err := p.Claim(t.Context(), Claim{Daemon: "d", Slots: 50, Lease: time.Minute, PerTick: 50, Window: time.Second, Rate: 1000, Alive: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range g.Leases {
				probed[l.ID] = true
			}
			return len(probed) == 13
		})
		r, err := p.Repair(t.Context())
		if err != nil || len(r.Violations) > 0 {
			t.Errorf("something was to be mended: %+v, %v", r, err)
		}
	})
}

// replay sends commands, one a line, a list in JSON.
func replay(t *testing.T, raw *redis.Client, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var command []any
		if err := json.Unmarshal(lines.Bytes(), &command); err != nil {
			t.Fatal(err)
		}
		if err := raw.Do(t.Context(), command...).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// told marks a record as converted once more: a step that is applied twice would show.
func told(from, to string) func(context.Context, *Pool) error {
	return func(ctx context.Context, p *Pool) error {
		return p.rewrite(ctx, func(raw string) (record.Record, bool) {
			r, err := record.Decode(raw)
			write := err == nil && strings.HasSuffix(r.Note, from)
			r.Note = strings.TrimSuffix(r.Note, from) + to
			return r, write
		})
	}
}

var laterSteps = []upgrade{
	upgrades[0],
	{2, "first is second", told("first", "second")},
	{3, "second is third", told("second", "third!")},
}

func TestManyDaemonsUpgradeAPoolThatIsInUse(t *testing.T) {
	url := testenv.Redis(t)
	p, raw := open(t, url), testenv.Client(t, url)
	enrollSome(t, p, 700)
	ctx, stop := context.WithCancel(t.Context())
	var traffic, daemons sync.WaitGroup
	traffic.Go(func() { // of this version: what it writes meanwhile is of the schema it read
		for ctx.Err() == nil {
			g, err := p.Claim(ctx, Claim{Daemon: "d", Slots: 20, Lease: time.Second, PerTick: 50, Window: time.Second, Rate: 1e6, Alive: time.Second})
			if err != nil {
				continue
			}
			var changes []Change
			for _, l := range g.Leases {
				next := l.Record
				next.LastProbeMs = g.Now
				changes = append(changes, Change{ID: l.ID, Token: l.Token, Old: l.Raw, Transition: record.Transition{From: record.Candidate, To: record.Candidate,
					Next: next, DueMs: g.Now, DelayMs: 1}})
			}
			p.Commit(ctx, Terms{Lease: time.Second}, changes)
		}
	})
	for range 4 {
		p := open(t, url)
		daemons.Go(func() {
			if _, err := p.fit(t.Context(), 4, laterSteps); err != nil {
				t.Error(err)
			}
		})
	}
	daemons.Wait()
	stop()
	traffic.Wait()
	if got := raw.HGet(t.Context(), p.keys.meta(), "schema").Val(); got != "4" {
		t.Errorf("schema %q", got)
	}
	clean(t, p)
	for id, text := range raw.HGetAll(t.Context(), p.keys.endpoints()).Val() {
		if r, err := record.Decode(text); err != nil || r.Note != "third!" {
			t.Errorf("%s: %s, %v", id, text, err)
		}
	}
	if _, err := p.Fit(t.Context()); !errors.As(err, new(ErrNewer)) {
		t.Errorf("this version now: %v", err)
	}
}

func TestAnUpgradeBrokenOffGoesOnWhereItWas(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p, raw := open(t, url), testenv.Client(t, url)
		enrollSome(t, p, 250)
		broken := errors.New("redis went away")
		steps := []upgrade{laterSteps[0], {2, "half of it", func(ctx context.Context, p *Pool) error {
			n := 0
			err := p.rewrite(ctx, func(raw string) (record.Record, bool) {
				r, _ := record.Decode(raw)
				r.Note, n = "second", n+1
				return r, n < 100
			})
			return errors.Join(err, broken)
		}}}
		if _, err := p.fit(t.Context(), 3, steps); !errors.Is(err, broken) || !strings.Contains(err.Error(), "from schema 2 (half of it)") {
			t.Fatalf("%v", err)
		}
		if raw.HExists(t.Context(), p.keys.meta(), "schema").Val() {
			t.Fatal("the schema is written, yet not all was done")
		}
		if _, err := p.fit(t.Context(), 3, laterSteps[:2]); err != nil {
			t.Fatal(err)
		}
		clean(t, p)
		for id, text := range raw.HGetAll(t.Context(), p.keys.endpoints()).Val() {
			if r, err := record.Decode(text); err != nil || r.Note != "second" {
				t.Errorf("%s: %s, %v", id, text, err)
			}
		}
	})
}

func init() {
	spoilable["repair"] = func(t *testing.T, p *Pool) (*redis.Script, []string, []any) {
		candidates(t, p)
		entries, _, err := p.Look(t.Context(), []string{"http://a:1"})
		if err != nil {
			t.Fatal(err)
		}
		next := entries[0].Record
		next.Note = "mended"
		a := entries[0].as(next)
		return repairScript, p.amendKeys(), append(append(p.call(0), eventsKept), a.args(entries[0])...)
	}
}
