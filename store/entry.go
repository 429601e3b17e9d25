package store

import (
	"context"
	"fmt"
	"strconv"

	"proxyward/store/record"
)

// Entry is all that is known of one endpoint at one instant.
type Entry struct {
	ID     string
	Raw    string // the record as it stands in Redis; empty: none
	Record record.Record
	URL    string // full proxy URL, a secret; the id where none is kept

	Member  bool // in the eligible set
	Score   int64
	Lanes   map[record.Lane]int64 // due time in ms; for urgent the score of the request
	Leased  bool
	LeaseMs int64  // pool time at which the lease ends
	Token   string // LANE.SCORE.NONCE of the live lease
	HoldMs  int64  // pool time at which the operator's hold ends by itself; 0: it does not
	Jobs    int64  // live jobs, where the check counts them

	seen []string // as look.lua returned it
	far  int64    // as the pool has it
}

// Columns of look.lua that stand in seen only.
const (
	seenInflight = 10
	seenEngaged  = 11
	seenWhole    = 12
)

// Known reports whether the endpoint has a record.
func (e Entry) Known() bool { return e.Raw != "" }

// Allocations counts what workers were given: in the set, or when it last left.
func (e Entry) Allocations() int64 {
	if e.Member {
		return e.Score
	}
	return e.Record.Allocations
}

// State is the recorded state, or permitted for a cooling endpoint that is on trial now.
func (e Entry) State() record.State {
	if e.Record.State == record.Cooling && e.Leased {
		return record.Permitted
	}
	return e.Record.State
}

// Look reads endpoints, in the order of ids; an unknown one has an empty Raw. A record
// that cannot be decoded is an error in bad beside an entry that has only its Raw.
func (p *Pool) Look(ctx context.Context, ids []string) (entries []Entry, bad []error, err error) {
	k := p.keys
	names := append([]string{k.eligible(), k.endpoints()}, k.lanes()...)
	names = append(names, k.leases(), k.tokens(), k.urls(), k.holds(), k.meta(), k.inflight(), k.engaged())
	for len(ids) > 0 {
		n := min(batch, len(ids))
		args := make([]any, n)
		for i, id := range ids[:n] {
			args[i] = id
		}
		rows, err := p.look(ctx, names, args)
		if err != nil {
			return nil, nil, fmt.Errorf("look at endpoints: %w", err)
		}
		for i, row := range rows {
			e, err := entryOf(ids[i], row.([]any))
			e.far = p.far
			if err != nil {
				bad = append(bad, err)
			}
			entries = append(entries, e)
		}
		ids = ids[n:]
	}
	return entries, bad, nil
}

func entryOf(id string, row []any) (Entry, error) {
	seen := make([]string, len(row))
	for i := range row {
		seen[i], _ = row[i].(string)
	}
	text := func(i int) string { return seen[i] }
	number := func(i int) (int64, bool) {
		f, err := strconv.ParseFloat(text(i), 64)
		return int64(f), err == nil
	}
	e := Entry{ID: id, Raw: text(0), URL: text(1), Token: text(8), Lanes: map[record.Lane]int64{}, seen: seen}
	if e.URL == "" {
		e.URL = id
	}
	e.Score, e.Member = number(2)
	for i, lane := range record.Lanes {
		if due, in := number(3 + i); in {
			e.Lanes[lane] = due
		}
	}
	e.LeaseMs, e.Leased = number(7)
	e.HoldMs, _ = number(9)
	in, _ := number(seenInflight)
	away, _ := number(seenEngaged)
	e.Jobs = in + away
	if e.Raw == "" {
		return e, nil
	}
	rec, err := decode(id, e.Raw)
	if err == nil {
		e.Record = rec
	}
	return e, err
}

// Scan calls visit with every endpoint that has a record, in batches, each read at one
// instant. Endpoints that come or go meanwhile may be missed.
func (p *Pool) Scan(ctx context.Context, visit func([]Entry, []error) error) error {
	return p.scanIDs(ctx, p.keys.endpoints(), func(ids []string) error {
		entries, bad, err := p.Look(ctx, ids)
		if err != nil {
			return err
		}
		return visit(entries, bad)
	})
}

// scanIDs calls visit with the ids in one hash or sorted set, in batches; an id can come twice.
func (p *Pool) scanIDs(ctx context.Context, key string, visit func([]string) error) error {
	for cursor := uint64(0); ; {
		ids, next, err := p.scanBatch(ctx, key, cursor)
		if err != nil {
			return err
		}
		if err := visit(ids); err != nil {
			return err
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// scanBatch reads some ids of one hash or sorted set, and the cursor of the next ones; 0: there are none.
func (p *Pool) scanBatch(ctx context.Context, key string, cursor uint64) (ids []string, next uint64, err error) {
	read := p.client.ZScan
	if key == p.keys.endpoints() || key == p.keys.tokens() || key == p.keys.urls() {
		read = p.client.HScan
	}
	items, next, err := read(ctx, key, cursor, "", batch).Result()
	if err != nil {
		return nil, 0, fmt.Errorf("scan pool: %w", err)
	}
	for i := 0; i < len(items); i += 2 { // each is followed by its value or score
		ids = append(ids, items[i])
	}
	return ids, next, nil
}
