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
	Scan  uint64   `json:"s,omitempty"` // Redis's own cursor
	Rest  []string `json:"r,omitempty"` // ids from before it, not read yet
	After string   `json:"a,omitempty"` // of a pool that is read at once: those up to this id were read
	Over  bool     `json:"o,omitempty"` // there is nothing behind Rest

	whole bool // the pool was read at once
}

// Done reports whether the walk is at its end.
func (at Place) Done() bool { return at.Over && len(at.Rest) == 0 }

// Back is the place at which those of the entries that Walk read last are read again which
// come after the one taken. Where a scan stands still it does not read the same ones again:
// how far it reaches changes with the pool; so their ids are kept.
func (at Place) Back(taken Entry, rest []Entry) Place {
	if at.whole {
		return Place{After: taken.ID}
	}
	back := Place{Scan: at.Scan, Over: at.Over}
	for _, e := range rest {
		back.Rest = append(back.Rest, e.ID)
	}
	return back
}

// Walk reads about n endpoints at a place, 1 to 200, in the order of their ids, and says
// where the next ones are. A record that cannot be decoded is an error in bad. Endpoints that
// come or go meanwhile may be missed, and one may be read twice.
func (p *Pool) Walk(ctx context.Context, at Place, n int) (entries []Entry, bad []error, next Place, err error) {
	ids, next := at.Rest, Place{Scan: at.Scan, Over: at.Over}
	if len(ids) == 0 {
		if ids, next, err = p.step(ctx, at, min(max(n, 1), batch)); err != nil {
			return nil, nil, at, err
		}
	}
	entries, bad, err = p.Look(ctx, ids)
	return entries, bad, next, err
}

// step reads the next ids.
func (p *Pool) step(ctx context.Context, at Place, n int) (ids []string, next Place, err error) {
	items, cursor, err := p.client.HScan(ctx, p.keys.endpoints(), at.Scan, "", int64(n)).Result()
	if err != nil {
		return nil, at, fmt.Errorf("walk through pool: %w", err)
	}
	for i := 0; i < len(items); i += 2 { // each is followed by its record
		if items[i] > at.After {
			ids = append(ids, items[i])
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	next = Place{Scan: cursor, Over: cursor == 0, whole: at.Scan == 0 && cursor == 0}
	if next.whole && len(ids) > n { // an embedded Redis gives all at once
		ids = ids[:n]
		next = Place{After: ids[n-1], whole: true}
	}
	return ids, next, nil
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
