package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

// Asked is what a request for a probe came to.
type Asked int

// The answers to Recheck.
const (
	Nowhere  Asked = iota // unknown or disabled: it waits in no lane
	Queued                // moved to the urgent lane
	Waiting               // was there already
	Probing               // is being probed now; that probe answers
	Trickles              // cooling: due now, inside the trickle
)

// MaxPriority is the last urgent priority; lower ones are served first.
const MaxPriority = 99999

// Recheck asks for a probe of each endpoint soon and wakes the daemons. It is safe to repeat.
func (p *Pool) Recheck(ctx context.Context, priority int, ids []string) ([]Asked, error) {
	if priority < 0 || priority > MaxPriority {
		return nil, fmt.Errorf("priority %d: use 0 to %d", priority, MaxPriority)
	}
	var all []Asked
	names := append(p.keys.lanes(), p.keys.leases(), p.keys.clock(), p.keys.meta())
	for len(ids) > 0 {
		n := min(batch, len(ids))
		args := append(p.call(0), priority)
		for _, id := range ids[:n] {
			args = append(args, id)
		}
		codes, err := p.codes(ctx, recheckScript, names, args)
		if err != nil {
			return all, fmt.Errorf("ask for probes: %w", err)
		}
		for _, c := range codes {
			all = append(all, Asked(c))
		}
		ids = ids[n:]
	}
	p.client.Publish(ctx, p.keys.wake(), "urgent") // the next tick serves it even if nobody hears
	return all, nil
}

// Wakeups delivers a value whenever somebody asked for urgent work, until ctx ends; then
// the channel is closed. A lost connection is made anew.
func (p *Pool) Wakeups(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	sub := p.client.Subscribe(ctx, p.keys.wake())
	go func() {
		defer close(wake)
		defer sub.Close()
		messages := sub.Channel()
		for {
			select {
			case <-ctx.Done():
				return
			case <-messages:
			}
			select {
			case wake <- struct{}{}:
			default:
			}
		}
	}()
	return wake
}

// Allocate takes the least allocated eligible endpoint as a worker does. ok is false when
// the pool is empty. url is a secret.
func (p *Pool) Allocate(ctx context.Context) (id, url string, ok bool, err error) {
	id, err = p.run(ctx, allocateScript, []string{p.keys.eligible()}, nil).Text()
	if errors.Is(err, redis.Nil) {
		return "", "", false, nil
	}
	if err != nil {
		return "", "", false, fmt.Errorf("allocate: %w", err)
	}
	url, err = p.client.HGet(ctx, p.keys.urls(), id).Result()
	if errors.Is(err, redis.Nil) {
		return id, id, true, nil
	}
	if err != nil {
		return "", "", false, fmt.Errorf("allocate: read URL: %w", err)
	}
	return id, url, true, nil
}

// Forget removes endpoints and all that is kept of them, a code for each: Applied,
// Changed, or Busy for one that is being probed. by says who wanted it.
func (p *Pool) Forget(ctx context.Context, by record.By, entries []Entry) ([]Code, error) {
	k := p.keys
	names := append([]string{k.eligible(), k.endpoints()}, k.lanes()...)
	names = append(names, k.leases(), k.urls(), k.counts(), k.holds(), k.meta(), k.clock(), k.events(), k.inflight(), k.engaged())
	var all []Code
	for len(entries) > 0 {
		n := min(batch, len(entries))
		args := append(p.call(0), eventsKept, string(by))
		sums := []string{}
		for _, e := range entries[:n] {
			args = append(args, e.ID, e.Raw, string(e.countedAs()))
			for _, s := range e.Record.Sources {
				sums = append(sums, "sum:"+s) // its sources count as not yet read
			}
		}
		codes, err := p.codes(ctx, forgetScript, names, args)
		if err != nil {
			return all, fmt.Errorf("forget endpoints: %w", err)
		}
		all, entries = append(all, codes...), entries[n:]
		if len(sums) == 0 {
			continue
		}
		if err := p.client.HDel(ctx, k.meta(), sums...).Err(); err != nil {
			return all, fmt.Errorf("forget endpoints: have their sources read again: %w", err)
		}
	}
	return all, nil
}

// countedAs is the state the counts have it under: of a record that cannot be read, what
// its places say.
func (e Entry) countedAs() record.State {
	switch {
	case e.Record.State != "":
		return e.Record.State
	case e.Member:
		return record.Eligible
	}
	for lane := range e.Lanes {
		if lane == record.Recovery {
			return record.Cooling
		}
		return record.Candidate
	}
	return record.Disabled
}

// Purge removes every key of the check.
func (p *Pool) Purge(ctx context.Context) error {
	if err := p.client.Unlink(ctx, p.keys.all()...).Err(); err != nil {
		return fmt.Errorf("purge check %s: %w", p.check, err)
	}
	return nil
}
