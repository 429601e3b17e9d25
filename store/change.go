package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"proxyward/store/record"
)

// Scores say where a member enters the eligible set.
type Scores struct {
	Initial int64 // of a member never allocated before; negative: the lowest in the pool
	Keep    bool  // a returning one keeps its own count where that is higher than the lowest
}

// Terms are what holds for all changes of one commit.
type Terms struct {
	Lease  time.Duration
	Scores Scores
	Floor  Floor
	Seen   []Seen // what the guard is to know of, oldest first
}

// seen are the last of them, as commit.lua reads them.
func (t Terms) seen() string {
	var b strings.Builder
	for _, s := range t.Seen[max(0, len(t.Seen)-seenKept):] {
		fmt.Fprintf(&b, "%s %d %s\n", s.Kind, s.AtMs, s.ID)
	}
	return b.String()
}

// Floor is how many stay eligible whatever happens: a number or, if that is zero, a share
// of all endpoints, 0 to 1. The zero value is none.
type Floor struct {
	Count int
	Share float64
}

// String is the floor as commit.lua reads it.
func (f Floor) String() string {
	if f.Count > 0 {
		return strconv.Itoa(f.Count)
	}
	return strconv.FormatFloat(100*f.Share, 'f', 4, 64) + "%"
}

// Change is one transition to carry out on the exact record it was judged against.
type Change struct {
	ID         string
	Token      string // of the live lease; empty for a change no probe made
	Old        string // the record as read; empty: there must be none
	Transition record.Transition
	URL        string // new full URL, a secret; empty: as it is; equal to ID: none is kept
	Guarded    bool   // it was judged as the guard asks for while it is open
}

// Commit applies results, a code for each. It is safe to repeat: an applied result has
// lost its lease and comes back Late. Nobody is ejected while the guard is open, unless it
// was judged so, nor where that would leave fewer than the floor.
func (p *Pool) Commit(ctx context.Context, terms Terms, changes []Change) ([]Code, error) {
	var all []Code
	names := p.commitKeys()
	for len(changes) > 0 {
		n := min(batch, len(changes))
		args := append(p.call(terms.Lease), eventsKept, terms.Floor.String(), terms.seen())
		terms.Seen = nil
		for _, c := range changes[:n] {
			if err := c.check(); err != nil {
				return all, fmt.Errorf("commit results: %w", err)
			}
			args = c.appendTo(args, terms.Scores)
		}
		codes, err := p.codes(ctx, commitScript, names, args)
		if err != nil {
			return all, fmt.Errorf("commit results: %w", err)
		}
		all, changes = append(all, codes...), changes[n:]
	}
	return all, nil
}

// Amend applies changes that no probe made, a code for each. It is safe to repeat.
func (p *Pool) Amend(ctx context.Context, changes []Change) ([]Code, error) {
	var all []Code
	names := p.amendKeys()
	for len(changes) > 0 {
		n := min(batch, len(changes))
		args := append(p.call(0), eventsKept, 0, "")
		for _, c := range changes[:n] {
			if err := c.check(); err != nil {
				return all, fmt.Errorf("amend endpoints: %w", err)
			}
			args = c.appendTo(args, Scores{Initial: -1, Keep: true})
		}
		codes, err := p.codes(ctx, amendScript, names, args)
		if err != nil {
			return all, fmt.Errorf("amend endpoints: %w", err)
		}
		if told := p.moved.Load(); told != nil {
			for i, code := range codes {
				if e := changes[i].Transition.Event; code == Applied && e != nil {
					(*told)(changes[i].ID, *e)
				}
			}
		}
		all, changes = append(all, codes...), changes[n:]
	}
	return all, nil
}

// check refuses a transition that does not fit its records: the counts and the lanes follow
// From and To, everybody else reads the record.
func (c Change) check() error {
	from, t := record.State(""), c.Transition
	if c.Old != "" {
		old, err := decode(c.ID, c.Old)
		if err != nil {
			return err
		}
		from = old.State
	}
	if from != t.From || t.Next.State != t.To {
		return fmt.Errorf("endpoint %s: its records say %q to %q, the transition %q to %q", c.ID, from, t.Next.State, t.From, t.To)
	}
	return nil
}

// appendTo adds the change as one item of move.lua.
func (c Change) appendTo(args []any, scores Scores) []any {
	t := c.Transition
	kept, initial := int64(0), ""
	if scores.Keep {
		kept = t.Next.Allocations
	}
	if t.Next.Allocations == 0 && scores.Initial >= 0 {
		initial = strconv.FormatInt(scores.Initial, 10)
	}
	next := t.Next
	if t.From == record.Eligible || t.To == record.Eligible {
		next.Allocations = 0 // the set counts while it is in; the script adds them when it leaves
	}
	url := c.URL
	switch url {
	case "":
		url = "="
	case c.ID:
		url = "-"
	}
	var e record.Step
	if t.Event != nil {
		e = *t.Event
	}
	from := string(e.From)
	if t.Event != nil && from == "" {
		from = string(Fresh)
	}
	return append(args, c.ID, c.Token, c.Old, next.Encode(), string(t.From), string(t.To), string(t.To.Lane()),
		t.DueMs, t.DelayMs, kept, initial, url, next.HoldUntilMs, from, e.Stage, e.Reason, e.Blame, e.Detail, string(e.By), e.PauseMs,
		map[bool]string{true: "1"}[c.Guarded])
}
