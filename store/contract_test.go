package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

const check = "c"

// place is one Redis under test.
type place struct {
	url     string
	guarded bool                // scripts run with guard before them
	raw     *redis.Client       // behind the store's back
	key     func(string) string // of a part of the pool
}

// contract runs f on miniredis, on a real server, and on a real server where a script that
// touches a key it did not declare fails, as the user that configs/redis-acl.conf makes.
func contract(t *testing.T, f func(t *testing.T, at place)) {
	t.Helper()
	t.Parallel()
	run := func(t *testing.T, url string, guarded bool) {
		at := place{url, guarded, testenv.Client(t, url), func(part string) string { return "proxyward:{" + check + "}:" + part }}
		if guarded {
			at.url = testenv.As("proxyward", url)
		}
		f(t, at)
	}
	testenv.EachRedis(t, func(t *testing.T, url string) { run(t, url, false) })
	t.Run("declared keys and the ACL only", func(t *testing.T) { run(t, testenv.Redis(t, "--include", testenv.ACL(t)), true) })
}

// real runs f on a real server only: what is about speed and concurrency.
func real(t testing.TB) place {
	url := testenv.Redis(t)
	return place{url, false, testenv.Client(t, url), func(part string) string { return "proxyward:{" + check + "}:" + part }}
}

// declaredOnly lets a script reach declared keys only. The first argument of every command used
// is its key.
const declaredOnly = `#!lua
local redis = {call = function(command, key, ...)
  if key == nil then return redis.call(command) end
  local name = command == 'XREADGROUP' and select(6, ...) or key -- … STREAMS key >
  for _, declared in ipairs(KEYS) do
    if name == declared then return redis.call(command, key, ...) end
  end
  error('key ' .. key .. ' is not declared')
end}
`

// guardHook puts declaredOnly before every script. Its EVALSHA of the bare script is never loaded,
// so every call comes as EVAL in the end.
type guardHook struct{}

func (guardHook) DialHook(next redis.DialHook) redis.DialHook { return next }
func (guardHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (guardHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "eval" {
			cmd.Args()[1] = declaredOnly + cmd.Args()[1].(string)
		}
		return next(ctx, cmd)
	}
}

// flush leaves nothing in it.
func (at place) flush(t *testing.T) {
	t.Helper()
	if err := at.raw.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

func (at place) store(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(store.Address{URL: at.url})
	if at.guarded {
		options, parseErr := redis.ParseURL(at.url)
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		options.MaxRetries = -1
		c := redis.NewClient(options)
		c.AddHook(guardHook{})
		s = store.New(c, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// pool is a Pool as another process would have it; the invariants are checked at the end.
func (at place) pool(t testing.TB) *store.Pool {
	t.Helper()
	p := at.store(t).Pool(check)
	t.Cleanup(func() { sound(t, p) })
	return p
}

// later moves the pool's time on, as if it had passed: no daemon sees a leap.
func (at place) later(t testing.TB, d time.Duration) {
	t.Helper()
	for _, field := range []string{"offset", "high"} {
		if err := at.raw.HIncrBy(context.Background(), at.key("clock"), field, d.Milliseconds()).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// sound fails the test when an invariant is broken.
func sound(t testing.TB, p *store.Pool) {
	t.Helper()
	r, err := p.Fsck(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Violations {
		t.Errorf("%s %s: %s", v.Invariant, v.Endpoint, v.What)
	}
}

func id(i int) string { return fmt.Sprintf("http://10.0.0.1:%d", 10000+i) }

func ids(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, id(i))
	}
	return all
}

func now(t testing.TB, p *store.Pool) int64 {
	t.Helper()
	ms, err := p.Time(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

// plant makes endpoints known in a state, due at the given pool time.
func plant(t testing.TB, p *store.Pool, state record.State, due int64, ids ...string) {
	t.Helper()
	var changes []store.Change
	for _, id := range ids {
		rec := record.Record{State: state, Sources: []string{"file:l"}}
		if state == record.Eligible {
			rec.LastOKMs = 1
		}
		if state == record.Disabled {
			rec.Holds, due = []record.Hold{record.Operator}, 0
		}
		changes = append(changes, store.Change{ID: id, Transition: record.Transition{To: state, Next: rec, DueMs: due, DelayMs: 1 << 50}})
	}
	applied(t)(p.Amend(context.Background(), changes))
}

// applied fails the test unless every code says so.
func applied(t testing.TB) func(codes []store.Code, err error) {
	return func(codes []store.Code, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range codes {
			if c != store.Applied {
				t.Fatalf("change %d: code %d", i, c)
			}
		}
	}
}

func request(slots int) store.Claim {
	return store.Claim{Daemon: "d", Slots: slots, Lease: 20 * time.Second, PerTick: 5, Window: time.Second, Rate: 1000, Alive: 5 * time.Second}
}

func claim(t testing.TB, p *store.Pool, c store.Claim) store.Grant {
	t.Helper()
	g, err := p.Claim(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range g.Broken {
		t.Fatal(b)
	}
	return g
}

// one claims one endpoint.
func one(t testing.TB, p *store.Pool) store.Lease {
	t.Helper()
	g := claim(t, p, request(1))
	if len(g.Leases) != 1 {
		t.Fatalf("claimed %d endpoints, want one", len(g.Leases))
	}
	return g.Leases[0]
}

func granted(g store.Grant) (ids []string) {
	for _, l := range g.Leases {
		ids = append(ids, l.ID)
	}
	return ids
}

var scores = store.Scores{Initial: -1, Keep: true}

// move is the change of a lease's endpoint to a state, due wait after `at`.
func move(l store.Lease, to record.State, at int64, wait time.Duration) store.Change {
	next := l.Record.Clone()
	next.State = to
	return store.Change{ID: l.ID, Token: l.Token, Old: l.Raw, Transition: record.Transition{From: l.Record.State, To: to, Next: next,
		DueMs: at + wait.Milliseconds(), DelayMs: wait.Milliseconds() + 60_000,
		Event: &record.Step{From: l.Record.State, To: to, By: record.ByProbe, Stage: "connect", Reason: "refused", Blame: "proxy", Detail: "nobody listens", PauseMs: 7}}}
}

func commit(t testing.TB, p *store.Pool, c ...store.Change) []store.Code {
	t.Helper()
	codes, err := p.Commit(context.Background(), store.Terms{Lease: 20 * time.Second, Scores: scores}, c)
	if err != nil {
		t.Fatal(err)
	}
	return codes
}

// amend changes one endpoint as an operator or a source would.
func amend(t testing.TB, p *store.Pool, id string, to record.State, due int64, edit func(*record.Record)) {
	t.Helper()
	e := look(t, p, id)
	next := e.Record.Clone()
	next.State = to
	if edit != nil {
		edit(&next)
	}
	tr := record.Transition{From: e.Record.State, To: to, Next: next, DueMs: due, DelayMs: 1 << 50}
	applied(t)(p.Amend(context.Background(), []store.Change{{ID: id, Old: e.Raw, Transition: tr}}))
}

func disable(t testing.TB, p *store.Pool, id string) {
	t.Helper()
	amend(t, p, id, record.Disabled, 0, func(r *record.Record) { r.Holds = []record.Hold{record.Operator} })
}

func enable(t testing.TB, p *store.Pool, id string, due int64) {
	t.Helper()
	amend(t, p, id, record.Candidate, due, func(r *record.Record) { r.Holds = nil })
}

func look(t testing.TB, p *store.Pool, id string) store.Entry {
	t.Helper()
	entries, bad, err := p.Look(context.Background(), []string{id})
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	return entries[0]
}

// waits is where an endpoint waits, in words: its lanes with their scores, or its lease.
func waits(e store.Entry) string {
	var words []string
	for _, l := range record.Lanes {
		if due, in := e.Lanes[l]; in {
			words = append(words, fmt.Sprintf("%s %d", l, due))
		}
	}
	if e.Leased {
		words = append(words, "leased, then "+e.Token[:strings.LastIndex(e.Token, ".")])
	}
	if words == nil {
		return "nowhere"
	}
	return strings.Join(words, ", ")
}
