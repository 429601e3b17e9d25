package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"proxyward/store/record"
)

// countTries bounds how often the counts are read again because somebody else corrected them.
const countTries = 5

// readable drops counts that are no number, before anything else is mended: no script could
// go on from them. What they are off is made up for at the end.
func (p *Pool) readable(ctx context.Context) ([]Violation, error) {
	t, err := p.tally(ctx)
	items := t.unreadable()
	if err != nil || len(items) == 0 {
		return nil, err
	}
	found := t.check()
	done, err := p.correct(ctx, t, items)
	return mendedAll(found, done), err
}

// unreadable are the items that drop what counts nothing.
func (t tally) unreadable() (items []any) {
	for _, field := range sortedKeys(t.counts) {
		if _, err := strconv.ParseInt(t.counts[field], 10, 64); err != nil || !slices.Contains(record.States, record.State(field)) {
			items = append(items, field, t.counts[field], "")
		}
	}
	return items
}

// recount corrects counts that disagree with the pool; permitted is how many records say
// so, -1 where that was not counted while the pool stood still.
func (p *Pool) recount(ctx context.Context, permitted func(tally) int64) ([]Violation, error) {
	var found []Violation
	for range countTries {
		t, err := p.tally(ctx)
		if err != nil {
			return found, err
		}
		if items := t.unreadable(); len(items) > 0 { // in the middle of it
			if _, err := p.correct(ctx, t, items); err != nil {
				return t.check(), err
			}
			continue
		}
		off := t.off()
		if n := permitted(t); n >= 0 {
			off[record.Permitted] = t.count(record.Permitted) - n
			off[record.Cooling] -= off[record.Permitted]
		}
		var items []any
		for _, state := range record.States {
			if off[state] != 0 {
				items = append(items, string(state), "", strconv.FormatInt(off[state], 10))
			}
		}
		if len(items) == 0 {
			return nil, nil
		}
		if found = t.check(); len(found) == 0 {
			found = []Violation{{Invariant: "I4", What: fmt.Sprintf("counts by state are off by %v", off)}}
		}
		if done, err := p.correct(ctx, t, items); done || err != nil {
			return mendedAll(found, done), err
		}
	}
	return found, nil
}

func (p *Pool) correct(ctx context.Context, t tally, items []any) (bool, error) {
	n, err := p.run(ctx, countsScript, []string{p.keys.counts(), p.keys.meta()}, append([]any{t.recounted}, items...)).Int()
	if err != nil {
		return false, fmt.Errorf("correct counts: %w", err)
	}
	return n == 1, nil
}

func mendedAll(found []Violation, done bool) []Violation {
	for i := range found {
		found[i].Mended = done
	}
	return found
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
