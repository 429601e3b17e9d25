package store

import (
	"context"
	"fmt"
	"sync"
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
	seen   seen
}

// seen is the last pool time heard from Redis; the zero value has heard none.
type seen struct {
	mu sync.Mutex
	ms int64
	at time.Time // monotonic
}

func (s *seen) set(ms int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ms, s.at = ms, time.Now()
}

// since gives the last pool time and the milliseconds passed; 0, 0 before the first.
func (s *seen) since() (ms, elapsed int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ms == 0 {
		return 0, 0
	}
	return s.ms, time.Since(s.at).Milliseconds()
}

// Name is the check's name.
func (p *Pool) Name() string { return p.check }

// Now is the pool time in milliseconds as far as this process knows it; 0 before the
// first claim or Time.
func (p *Pool) Now() int64 {
	ms, elapsed := p.seen.since()
	return ms + elapsed
}

// Time reads the pool's time from Redis without moving it: for commands.
func (p *Pool) Time(ctx context.Context) (int64, error) {
	pipe := p.client.Pipeline()
	clock, now := pipe.HMGet(ctx, p.keys.clock(), "offset", "high"), pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("read pool time: %w", err)
	}
	values := struct {
		Offset int64 `redis:"offset"`
		High   int64 `redis:"high"`
	}{}
	if err := clock.Scan(&values); err != nil {
		return 0, fmt.Errorf("read pool time: %w", err)
	}
	ms := max(now.Val().UnixMilli()+values.Offset, values.High)
	p.seen.set(ms)
	return ms, nil
}

// call are the first arguments of every script that moves the clock.
func (p *Pool) call(lease time.Duration) []any {
	last, elapsed := p.seen.since()
	return []any{last, elapsed, (2*time.Second + callTimeout).Milliseconds(), lease.Milliseconds()}
}

// moveKeys are KEYS 1-12 of commit and amend.
func (p *Pool) moveKeys() []string {
	k := p.keys
	names := append([]string{k.eligible(), k.endpoints()}, k.lanes()...)
	return append(names, k.leases(), k.tokens(), k.counts(), k.clock(), k.meta(), k.events())
}

// Code is what a script says of one endpoint.
type Code int

// The codes of all scripts.
const (
	Applied Code = 0
	Late    Code = 1 // not the live lease: nothing written
	Changed Code = 2 // the record is not the one judged: nothing written
	Busy    Code = 3 // being probed now
)

// run runs a script; only a missing script is sent again, which applies nothing twice.
func (p *Pool) run(ctx context.Context, s *redis.Script, keys []string, args []any) *redis.Cmd {
	return s.Run(ctx, p.client, keys, args...)
}

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
