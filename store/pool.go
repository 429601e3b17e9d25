package store

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

// batch is how many endpoints one script handles at most.
const batch = 200

// eventsKept is about how many entries the events stream holds.
const eventsKept = 10_000

// Pool is one check's endpoints in Redis. Safe for concurrent use. A daemon keeps one
// Pool for its whole life: it carries the last pool time seen and the monotonic time since.
type Pool struct {
	client redis.UniversalClient
	check  string
	keys   keys
	watch  func(script string, took time.Duration, kind string) // nil: nobody
	seen   seen

	jobsHeld atomic.Int64 // `held` of the clock when jobs were last looked at, and 1; 0: not yet

	discreet bool // leaves `urls` alone
	moved    atomic.Pointer[func(id string, step record.Step)]
	far      int64 // ms from now until which somebody can have to wait for a probe; 0: not known
}

// OnMove has f called with every change of state that Amend carries out. It returns the pool
// itself.
func (p *Pool) OnMove(f func(id string, step record.Step)) *Pool {
	p.moved.Store(&f)
	return p
}

// Farthest says how long an endpoint of this check can have to wait for a probe at most: who
// waits longer is mended. It returns the pool itself.
func (p *Pool) Farthest(d time.Duration) *Pool {
	p.far = d.Milliseconds()
	return p
}

// seen is the last pool time heard from Redis; the zero value has heard none.
type seen struct {
	mu    sync.Mutex
	ms    int64
	at    time.Time // monotonic
	moved bool      // heard from a call that moved the pool's clock, not only read it
}

// set takes note of a pool time. Time that was only read counts until the clock was moved:
// a leap that this process read before anybody took it out must not pass as known.
func (s *seen) set(ms int64, moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.moved && (!moved || ms < s.ms) { // an older reply that came late
		return
	}
	s.ms, s.at, s.moved = ms, time.Now(), moved
}

// since gives the last pool time and the milliseconds passed; 0, 0 before the first.
func (s *seen) since() (ms, elapsed int64, moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ms == 0 {
		return 0, 0, false
	}
	return s.ms, time.Since(s.at).Milliseconds(), s.moved
}

// Name is the check's name.
func (p *Pool) Name() string { return p.check }

// Now is the pool time in milliseconds as far as this process knows it; 0 before the
// first claim or Time.
func (p *Pool) Now() int64 {
	ms, elapsed, _ := p.seen.since()
	return ms + elapsed
}

// Time reads the pool's time from Redis without moving it: for commands.
func (p *Pool) Time(ctx context.Context) (int64, error) {
	if p.discreet {
		return p.plainTime(ctx)
	}
	reply, err := p.run(ctx, nowScript, []string{p.keys.clock()}, p.call(0)).Text()
	if err != nil {
		return 0, fmt.Errorf("read pool time: %w", err)
	}
	ms, err := strconv.ParseInt(reply, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read pool time: %w", err)
	}
	p.seen.set(ms, false)
	return ms, nil
}

// call are the first arguments of every script that asks for the pool's time. Before the
// first claim there is no last pool time: then a leap is taken for real.
func (p *Pool) call(lease time.Duration) []any {
	last, elapsed, moved := p.seen.since()
	if !moved {
		last, elapsed = 0, 0
	}
	return []any{last, elapsed, (2*time.Second + callTimeout).Milliseconds(), lease.Milliseconds()}
}

// moveKeys are KEYS 1-12 of commit and amend.
func (p *Pool) moveKeys() []string {
	k := p.keys
	names := append([]string{k.eligible(), k.endpoints()}, k.lanes()...)
	return append(names, k.leases(), k.tokens(), k.counts(), k.clock(), k.meta(), k.events())
}

// commitKeys are the KEYS of commit.
func (p *Pool) commitKeys() []string {
	return append(p.moveKeys(), p.keys.budget(), p.keys.guard(), p.keys.inflight(), p.keys.engaged())
}

// amendKeys are the KEYS of amend and repair.
func (p *Pool) amendKeys() []string {
	return append(p.moveKeys(), p.keys.urls(), p.keys.holds(), p.keys.inflight(), p.keys.engaged())
}

// Code is what a script says of one endpoint.
type Code int

// The codes of all scripts.
const (
	Applied Code = 0
	Late    Code = 1 // not the live lease: nothing written
	Changed Code = 2 // the record is not the one judged: nothing written
	Busy    Code = 3 // being probed now
	Guarded Code = 4 // the guard is open: nothing written; to be judged as it asks for
	Floored Code = 5 // it would leave fewer than the floor: nothing written
)

func (p *Pool) codes(ctx context.Context, s *redis.Script, keys []string, args []any) ([]Code, error) {
	numbers, err := p.run(ctx, s, keys, args).Int64Slice()
	if err != nil {
		return nil, err
	}
	codes := make([]Code, len(numbers))
	for i, n := range numbers {
		codes[i] = Code(n)
	}
	return codes, nil
}

// decode reads a record that a script returned; a broken one is an error naming it.
func decode(id, raw string) (record.Record, error) {
	r, err := record.Decode(raw)
	if err != nil {
		return r, fmt.Errorf("endpoint %s: %w", id, err)
	}
	return r, nil
}
