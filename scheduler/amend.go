package scheduler

import (
	"context"
	"errors"
	"fmt"

	"proxyward/store"
	"proxyward/store/record"
)

// Judge decides what a change that no probe made does to one endpoint, read at pool time
// nowMs: the change, and false where nothing is to be done. It may be asked again about
// the same endpoint when its record changed meanwhile.
type Judge func(e store.Entry, nowMs int64) (c store.Change, write bool, err error)

// Outcome is what Amend did to one endpoint.
type Outcome struct {
	ID      string
	Known   bool // it had a record when it was judged
	Written bool
}

// amendTries bounds how often a record that keeps changing is judged again.
const amendTries = 20

// Amend reads endpoints, has each judged and writes what follows, only over the records
// that were judged; where one changed meanwhile it is read and judged again.
func Amend(ctx context.Context, p *store.Pool, ids []string, judge Judge) ([]Outcome, error) {
	now, err := p.Time(ctx)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(ids))
	open := make([]int, len(ids)) // indexes into ids still to be settled
	for i, id := range ids {
		outcomes[i].ID, open[i] = id, i
	}
	var faults []error
	for try := 0; len(open) > 0; try++ {
		if try == amendTries {
			return outcomes, fmt.Errorf("amend: %d endpoints keep changing, among them %s: try again", len(open), ids[open[0]])
		}
		var again []int
		for len(open) > 0 {
			n := min(amendBatch, len(open))
			changed, err := amendOnce(ctx, p, outcomes, open[:n], now, judge, &faults)
			if err != nil {
				return outcomes, errors.Join(append(faults, err)...)
			}
			again, open = append(again, changed...), open[n:]
		}
		open = again
	}
	return outcomes, errors.Join(faults...)
}

const amendBatch = 200

// amendOnce settles some endpoints and gives back those whose record changed meanwhile.
func amendOnce(ctx context.Context, p *store.Pool, outcomes []Outcome, open []int, now int64, judge Judge, faults *[]error) (again []int, err error) {
	ids := make([]string, len(open))
	for i, at := range open {
		ids[i] = outcomes[at].ID
	}
	entries, bad, err := p.Look(ctx, ids)
	if err != nil {
		return nil, err
	}
	*faults = append(*faults, bad...)
	var changes []store.Change
	var which []int
	for i, e := range entries {
		outcomes[open[i]].Known = e.Known()
		if e.Known() && e.Record.State == "" { // told in bad
			continue
		}
		c, write, err := judge(e, now)
		if err != nil {
			*faults = append(*faults, fmt.Errorf("endpoint %s: %w", e.ID, err))
		} else if write {
			c.ID, c.Old = e.ID, e.Raw
			changes, which = append(changes, c), append(which, open[i])
		}
	}
	codes, err := p.Amend(ctx, changes)
	for i, code := range codes {
		switch code {
		case store.Applied:
			outcomes[which[i]].Written = true
		case store.Changed:
			again = append(again, which[i])
		}
	}
	return again, err
}

// change wraps a transition as Judge returns it.
func change(t record.Transition, write bool, err error) (store.Change, bool, error) {
	return store.Change{Transition: t}, write, err
}
