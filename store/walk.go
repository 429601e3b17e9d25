package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
)

// Place is where a walk through a pool has come to; the zero value is its beginning. It may
// be kept for as long as anybody likes: Redis remembers nothing of a walk.
type Place struct {
	Scan  uint64 // Redis's own cursor
	After string // of the endpoints there, those up to this id were read
	Over  bool   // there are no more
}

// Walk reads some endpoints at a place, in the order of their ids, and says where the next
// ones are: a few more than 200 at a time, all at once from an embedded Redis. A record that
// cannot be decoded is an error in bad. Endpoints that come or go meanwhile may be missed,
// and one may be read twice.
func (p *Pool) Walk(ctx context.Context, at Place) (entries []Entry, bad []error, next Place, err error) {
	ids, cursor, err := p.scanBatch(ctx, p.keys.endpoints(), at.Scan)
	if err != nil {
		return nil, nil, at, err
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if n, found := slices.BinarySearch(ids, at.After); at.After != "" {
		if found {
			n++
		}
		ids = ids[n:]
	}
	next = Place{Scan: cursor, Over: cursor == 0}
	if len(ids) > batch { // the rest is read from the same place
		ids = ids[:batch]
		next = Place{Scan: at.Scan, After: ids[batch-1]}
	}
	entries, bad, err = p.Look(ctx, ids)
	return entries, bad, next, err
}

// Event is one entry of the events stream.
type Event struct {
	ID     string            // of the stream: MS-N
	Fields map[string]string // endpoint (* is the check as a whole) from to stage reason blame by pause_ms detail at_ms probe
}

// Follow reads up to n events after the one with the id, oldest first; "0": from the first
// one kept. It does not wait for any.
func (p *Pool) Follow(ctx context.Context, after string, n int64) ([]Event, error) {
	entries, err := p.client.XRangeN(ctx, p.keys.events(), "("+after, "+", n).Result()
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return eventsOf(entries), nil
}

// Latest reads up to n events before the one with the id, newest first; empty: the last ones.
func (p *Pool) Latest(ctx context.Context, before string, n int64) ([]Event, error) {
	from := "+"
	if before != "" {
		from = "(" + before
	}
	entries, err := p.client.XRevRangeN(ctx, p.keys.events(), from, "-", n).Result()
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return eventsOf(entries), nil
}

func eventsOf(entries []redis.XMessage) []Event {
	events := make([]Event, len(entries))
	for i, e := range entries {
		events[i] = Event{e.ID, make(map[string]string, len(e.Values))}
		for name, v := range e.Values {
			events[i].Fields[name], _ = v.(string)
		}
	}
	return events
}

// AppliedSources are the sources whose list is in the pool as it was when it was last read.
func (p *Pool) AppliedSources(ctx context.Context) (map[string]bool, error) {
	fields, err := p.client.HGetAll(ctx, p.keys.meta()).Result()
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	applied := map[string]bool{}
	for name := range fields {
		if len(name) > 4 && name[:4] == "sum:" {
			applied[name[4:]] = true
		}
	}
	return applied, nil
}
