package store_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"proxyward/store"
	"proxyward/store/record"
)

// Random traces through the model and the scripts on a real server: the same states and
// places after each step, and no invariant broken. -rapid.checks=N runs N traces.
func TestTheScriptsDoWhatTheModelDoes(t *testing.T) {
	at := real(t)
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", "200"); err != nil {
			t.Fatal(err)
		}
	}
	s := at.store(t)
	traces := 0
	rapid.Check(t, func(rt *rapid.T) {
		traces++
		tr := newTrace(rt, at.raw, s.Pool(fmt.Sprintf("trace%d", traces)))
		rt.Repeat(map[string]func(*rapid.T){
			"enroll": tr.enroll, "claim": tr.claim, "commit": tr.commit, "give back": tr.giveBack, "disable": tr.disable,
			"enable": tr.enable, "password": tr.password, "ask": tr.ask, "forget": tr.forget, "allocate": tr.allocate, "time": tr.time, "guard": tr.guard,
			"acquire": tr.acquire, "acquire another": tr.acquire, "release": tr.release, "abandon": tr.abandon, "drop": tr.drop,
			"": tr.compare,
		})
		tr.sound(rt)
		if err := tr.pool.Purge(context.Background()); err != nil {
			rt.Fatal(err)
		}
	})
}

// trace is one run of both.
type trace struct {
	model
	raw    *redis.Client
	pool   *store.Pool
	clock  string
	leases []store.Lease // every one ever granted, live or not
	ctx    context.Context
	steps  int

	tasks    []task   // live jobs
	tokens   []string // of every job there ever was
	counting bool     // jobs are switched on
}

func newTrace(t *rapid.T, raw *redis.Client, p *store.Pool) *trace {
	tr := &trace{model{ends: map[string]*end{}, daemons: map[string]int64{}, cohorts: map[int64]*cohort{}}, raw, p, "proxyward:{" + p.Name() + "}:clock", nil, context.Background(), 0, nil, nil, false}
	for i := range 8 {
		tr.ends[id(i)] = &end{}
	}
	return tr
}

func (tr *trace) must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (tr *trace) now(t *rapid.T) int64 {
	ms, err := tr.pool.Time(tr.ctx)
	tr.must(t, err)
	return ms
}

// pick draws an endpoint in one of the states.
func (tr *trace) pick(t *rapid.T, states ...record.State) string {
	var ids []string
	for _, id := range tr.sorted() {
		if slices.Contains(states, tr.ends[id].state) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		t.Skip("nobody")
	}
	return rapid.SampledFrom(ids).Draw(t, "endpoint")
}

// due draws a due time: now, or some minutes away; 0 stands for now.
func (tr *trace) due(t *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(0, 3).Draw(t, "due")) * 7 * time.Minute
}

// amend turns an endpoint as an operator does, in both.
func (tr *trace) amend(t *rapid.T, id string, to record.State, wait time.Duration, edit func(*record.Record)) {
	entries, _, err := tr.pool.Look(tr.ctx, []string{id})
	tr.must(t, err)
	next := entries[0].Record.Clone()
	next.State, next.Note = to, fmt.Sprint(tr.ends[id].rev)
	if edit != nil {
		edit(&next)
	}
	due := tr.now(t) + wait.Milliseconds()
	change := record.Transition{From: tr.ends[id].state, To: to, Next: next, DueMs: due, DelayMs: wait.Milliseconds() + 60_000}
	if to == record.Disabled {
		change.DueMs = 0
	}
	codes, err := tr.pool.Amend(tr.ctx, []store.Change{{ID: id, Old: entries[0].Raw, Transition: change}})
	if err != nil || codes[0] != store.Applied {
		t.Fatal(codes, err)
	}
	e := tr.ends[id]
	tr.turn(e, to)
	e.send(to.Lane(), change.DueMs)
}

func (tr *trace) enroll(t *rapid.T) {
	tr.amend(t, tr.pick(t, ""), record.Candidate, tr.due(t), nil)
}

func (tr *trace) disable(t *rapid.T) {
	id := tr.pick(t, record.Candidate, record.Eligible, record.Cooling, record.Permitted, record.Disabled)
	tr.amend(t, id, record.Disabled, 0, func(r *record.Record) { r.Holds = []record.Hold{record.Operator} })
}

func (tr *trace) enable(t *rapid.T) {
	tr.amend(t, tr.pick(t, record.Disabled), record.Candidate, tr.due(t), func(r *record.Record) { r.Holds = nil })
}

func (tr *trace) password(t *rapid.T) {
	id := tr.pick(t, record.Candidate, record.Eligible, record.Cooling, record.Permitted)
	tr.amend(t, id, tr.ends[id].state, 0, func(r *record.Record) { r.URLRev++ })
}

func (tr *trace) claim(t *rapid.T) {
	daemon, slots := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "daemon"), rapid.IntRange(0, 6).Draw(t, "slots")
	g, err := tr.pool.Claim(tr.ctx, store.Claim{Daemon: daemon, Slots: slots, Lease: time.Duration(modelLease) * time.Millisecond, PerTick: modelTick, MaxTick: modelMost,
		Window: time.Duration(modelWindow) * time.Millisecond, Rate: 1e6, Alive: time.Duration(modelAlive) * time.Millisecond})
	tr.must(t, err)
	tr.leases = append(tr.leases, g.Leases...)
	if want := tr.model.claim(daemon, slots, g.Now); !slices.Equal(granted(g), want) {
		t.Fatalf("granted %v, want %v", granted(g), want)
	}
}

// lease draws one that was ever granted, and says whether it is the live one.
func (tr *trace) lease(t *rapid.T) (l store.Lease, live bool) {
	if len(tr.leases) == 0 {
		t.Skip("no lease")
	}
	i := len(tr.leases) - 1 - rapid.IntRange(0, min(len(tr.leases)-1, 8)).Draw(t, "lease")
	l = tr.leases[i]
	for _, later := range tr.leases[i+1:] {
		if later.ID == l.ID {
			return l, false
		}
	}
	return l, tr.ends[l.ID].lease != 0
}

func (tr *trace) commit(t *rapid.T) {
	l, live := tr.lease(t)
	e := tr.ends[l.ID]
	if live && rapid.Bool().Draw(t, "judged again") {
		entries, _, err := tr.pool.Look(tr.ctx, []string{l.ID})
		tr.must(t, err)
		l.Raw, l.Record, e.held = entries[0].Raw, entries[0].Record, e.rev
		for i := range tr.leases {
			if tr.leases[i].Token == l.Token {
				tr.leases[i] = l
			}
		}
	}
	to := rapid.SampledFrom([]record.State{record.Eligible, record.Cooling, record.Permitted, record.Candidate}).Draw(t, "to")
	if l.Record.State == record.Disabled {
		to = record.Disabled
	}
	wait := tr.due(t)
	c := move(l, to, tr.now(t), wait)
	c.Transition.Next.Note = fmt.Sprint("probe ", e.rev)
	c.Guarded = rapid.Bool().Draw(t, "judged as guarded")
	floor := rapid.IntRange(0, 3).Draw(t, "floor")
	codes, err := tr.pool.Commit(tr.ctx, store.Terms{Lease: time.Minute, Scores: scores, Floor: store.Floor{Count: floor}}, []store.Change{c})
	tr.must(t, err)
	want := store.Applied
	switch {
	case !live:
		want = store.Late
	case e.held != e.rev:
		want = store.Changed
	case to == record.Cooling && tr.guarded && !c.Guarded:
		want = store.Guarded
	case to == record.Cooling && e.member() && int(tr.counts()[record.Eligible]) <= floor:
		want = store.Floored
	default:
		e.lease = 0
		tr.tell(e, to)
		e.place = record.NoLane // a lease stands in no lane
		tr.turn(e, to)
		e.send(to.Lane(), c.Transition.DueMs)
	}
	if codes[0] != want {
		t.Fatalf("commit of %s: code %d, want %d", l.ID, codes[0], want)
	}
}

// tell is the result of a trial in the books of its cohort.
func (tr *trace) tell(e *end, to record.State) {
	c := tr.cohorts[e.trial]
	switch {
	case c == nil || e.state == record.Disabled:
	case to == record.Eligible || to == record.Permitted:
		c.passed++
	default:
		c.failed++
	}
}

func (tr *trace) guard(t *rapid.T) {
	tr.guarded = !tr.guarded
	if moved, _, err := tr.pool.MoveGuard(tr.ctx, tr.guarded, "for the trace", 0); err != nil || !moved {
		t.Fatal(moved, err)
	}
}

func (tr *trace) giveBack(t *rapid.T) {
	l, live := tr.lease(t)
	wait := tr.due(t)
	sent := fmt.Sprint(tr.ends[l.ID].place, ".", tr.ends[l.ID].score)
	tr.must(t, tr.pool.GiveBack(tr.ctx, time.Minute, []store.Return{{Lease: l, Delay: wait}}))
	if !live {
		return
	}
	e := tr.ends[l.ID]
	e.lease = 0
	if wait > 0 && l.Token[:len(sent)] == sent { // nobody sent it elsewhere meanwhile
		e.place, e.score = l.Record.State.Lane(), tr.now(t)+wait.Milliseconds()
	}
}

func (tr *trace) ask(t *rapid.T) {
	id, priority := rapid.SampledFrom(tr.sorted()).Draw(t, "endpoint"), rapid.IntRange(0, 3).Draw(t, "priority")*33333
	got, err := tr.pool.Recheck(tr.ctx, priority, []string{id})
	tr.must(t, err)
	e, want := tr.ends[id], store.Nowhere
	switch {
	case e.lease != 0:
		want = store.Probing
	case e.state == "" || e.state == record.Disabled:
	case e.place == record.Recovery:
		want, e.score = store.Trickles, min(e.score, tr.now(t))
	case e.place == record.Urgent && e.score>>36 <= int64(priority):
		want = store.Waiting
	default:
		want = store.Queued
		if e.place == record.Urgent {
			want = store.Waiting
		}
		tr.seq++
		e.place, e.score = record.Urgent, int64(priority)<<36+tr.seq
	}
	if got[0] != want {
		t.Fatalf("asked for %s: %d, want %d", id, got[0], want)
	}
}

func (tr *trace) forget(t *rapid.T) {
	id := tr.pick(t, record.Candidate, record.Eligible, record.Cooling, record.Permitted, record.Disabled)
	entries, _, err := tr.pool.Look(tr.ctx, []string{id})
	tr.must(t, err)
	codes, err := tr.pool.Forget(tr.ctx, record.ByOperator, entries)
	tr.must(t, err)
	e, want := tr.ends[id], store.Applied
	if e.lease != 0 {
		want = store.Busy
	} else {
		if e.member() {
			tr.low()
		}
		tr.ends[id] = &end{rev: e.rev + 1}
	}
	if codes[0] != want {
		t.Fatalf("forget %s: code %d, want %d", id, codes[0], want)
	}
}

func (tr *trace) allocate(t *rapid.T) {
	id, _, ok, err := tr.pool.Allocate(tr.ctx)
	tr.must(t, err)
	if want := tr.least(); id != want || ok != (want != "") {
		t.Fatalf("allocated %q, want %q", id, want)
	}
	if ok {
		tr.ends[id].kept++
	}
}

// time passes, in steps that are never just a lease, a window or a due time long.
func (tr *trace) time(t *rapid.T) {
	d := time.Duration(rapid.IntRange(1, 20).Draw(t, "minutes"))*time.Minute + 20*time.Second
	for _, field := range []string{"offset", "high"} {
		tr.must(t, tr.raw.HIncrBy(tr.ctx, tr.clock, field, d.Milliseconds()).Err())
	}
}

// compare holds every endpoint's picture against the model; due times may differ by the
// time the calls took, and the model takes them over.
func (tr *trace) compare(t *rapid.T) {
	ids := tr.sorted()
	entries, bad, err := tr.pool.Look(tr.ctx, ids)
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	for i, got := range entries {
		e := tr.ends[ids[i]]
		lane, score := got.Record.State.Lane(), int64(0)
		for l, due := range got.Lanes {
			lane, score = l, due
		}
		if got.Leased {
			lane, score = leaseGoes(t, got.Token)
		}
		if !got.Known() || lane == record.NoLane {
			lane, score = e.place, e.score
		}
		const slack = 10_000
		if got.Record.State != e.state || got.Leased != (e.lease != 0) || got.Allocations() != e.kept || got.Known() && lane != e.place ||
			score < e.score-slack || score > e.score+slack || got.LeaseMs != e.lease {
			t.Fatalf("%s is %+v\nmodel: %+v", got.ID, got, *e)
		}
		e.score = score
	}
	tr.compareJobs(t)
	if tr.steps++; tr.steps%8 == 0 { // it costs more than a step
		tr.sound(t)
	}
	s, err := tr.pool.Status(tr.ctx)
	tr.must(t, err)
	maps.DeleteFunc(s.States, func(_ record.State, n int64) bool { return n == 0 })
	if !maps.Equal(s.States, tr.counts()) {
		t.Fatalf("counts %v, want %v", s.States, tr.counts())
	}
}

func (tr *trace) sound(t *rapid.T) {
	r, err := tr.pool.Fsck(tr.ctx)
	if err != nil || len(r.Violations) > 0 {
		t.Fatal(r.Violations, err)
	}
}

func leaseGoes(t *rapid.T, token string) (lane record.Lane, score int64) {
	var words string
	if n, err := fmt.Sscanf(dots(token), "%s %d %s", &lane, &score, &words); n != 3 {
		t.Fatalf("token %s: %v", token, err)
	}
	return lane, score
}

func dots(token string) string {
	b := []byte(token)
	for i, c := range b {
		if c == '.' {
			b[i] = ' '
		}
	}
	return string(b)
}
