package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"proxyward/checks/endpoint"
	"proxyward/store/record"
)

// mendTries bounds how often an endpoint that keeps moving is looked at again.
const mendTries = 3

// Repair checks as Fsck does and mends what it can, each endpoint in one move and only if it
// still stands as it was read. It goes through the pool until nothing is left to mend, a few
// times at most; a violation that is not marked as mended is still there.
func (p *Pool) Repair(ctx context.Context) (Report, error) {
	r := Report{Violations: []Violation{}}
	for range repairRounds {
		round, err := p.goThrough(ctx, true)
		r.Checked = round.Checked
		if len(round.Violations) == 0 || err != nil {
			r.settle(nil)
			return r, err
		}
		r.Violations = append(r.Violations, round.Violations...)
	}
	rest, err := p.Fsck(ctx)
	r.settle(rest.Violations)
	return r, err
}

// repairRounds bounds how often a pool is gone through that somebody goes on spoiling.
const repairRounds = 4

// settle says of each violation whether it is still there.
func (r *Report) settle(left []Violation) {
	all := append([]Violation{}, left...)
	for _, v := range r.Violations {
		v.Mended = false
		if v.Mended = !slices.Contains(left, v); v.Mended {
			all = append(all, v)
		}
	}
	r.Violations = inOrder(all)
}

// Repaired counts what was ever mended in this pool, by invariant.
func (p *Pool) Repaired(ctx context.Context) (map[string]int64, error) {
	meta, err := p.client.HGetAll(ctx, p.keys.meta()).Result()
	if err != nil {
		return nil, fmt.Errorf("read repairs: %w", err)
	}
	counts := map[string]int64{}
	for field, n := range meta {
		if rule, is := strings.CutPrefix(field, "repaired:"); is {
			counts[rule] = integer(n)
		}
	}
	return counts, nil
}

// mend has endpoints stand as they should, and gives what was wrong with each.
func (p *Pool) mend(ctx context.Context, entries []Entry, now int64) (found []Violation, err error) {
	lost := false // something is gone that a list may bring back
	for try := 1; len(entries) > 0 && err == nil; try++ {
		var moved []string
		var broken []Entry
		for _, e := range entries {
			if len(e.check(now)) > 0 {
				broken = append(broken, e)
			}
		}
		codes, putErr := p.stand(ctx, broken, func(e Entry) aim { return e.aim(now, e.check(now)) })
		err = putErr
		for i, code := range codes {
			e := broken[i]
			if code == Changed && try < mendTries {
				moved = append(moved, e.ID)
				continue
			}
			for _, v := range e.check(now) {
				v.Mended = code == Applied
				found = append(found, v)
			}
			lost = lost || e.lost()
		}
		if err != nil || len(moved) == 0 {
			break
		}
		entries, _, err = p.Look(ctx, moved)
	}
	if err == nil && lost {
		err = p.Relist(ctx)
	}
	return found, err
}

// lost reports whether a list may bring back something of it that is gone.
func (e Entry) lost() bool {
	return e.Record.State == "" && (e.Known() || len(e.Lanes) > 0 || e.Leased || e.Token != "" || e.URL != e.ID)
}

// stand writes how endpoints shall stand, a code for each: Applied or Changed. One whose id
// holds a password, or is written otherwise, goes, and its proper name takes its place.
func (p *Pool) stand(ctx context.Context, entries []Entry, how func(Entry) aim) ([]Code, error) {
	var all []Code
	for len(entries) > 0 {
		n := min(batch, len(entries))
		args := append(p.call(0), eventsKept)
		for _, e := range entries[:n] {
			if misnamed(e.ID) {
				if err := p.rename(ctx, e); err != nil {
					return all, err
				}
			}
			args = append(args, how(e).args(e)...)
		}
		codes, err := p.codes(ctx, repairScript, p.amendKeys(), args)
		if err != nil {
			return all, fmt.Errorf("repair endpoints: %w", err)
		}
		all, entries = append(all, codes...), entries[n:]
	}
	return all, nil
}

// rename enrolls a misnamed endpoint under its proper name, as a candidate, unless that is
// there already.
func (p *Pool) rename(ctx context.Context, e Entry) error {
	parsed, err := endpoint.Parse(e.ID)
	if err != nil || !e.Known() {
		return nil // nothing could probe it: it only goes
	}
	at, err := p.Time(ctx)
	if err != nil {
		return err
	}
	rec := record.Record{Sources: e.Record.Sources, Holds: e.Record.Holds, HoldUntilMs: e.Record.HoldUntilMs}
	step := record.Step{To: record.Candidate, By: record.ByRepair, AtMs: at, Detail: "its id was not its name"}
	if len(rec.Holds) > 0 {
		step.To = record.Disabled
	}
	turn(&rec, step.To, at)
	rec.History = []record.Step{step}
	c := Change{ID: parsed.ID(), URL: parsed.URL(), Transition: record.Transition{To: step.To, Next: rec, Event: &step}}
	if step.To == record.Candidate {
		c.Transition.DueMs, c.Transition.DelayMs = at, 1
	}
	_, err = p.Amend(ctx, []Change{c})
	return err
}

// Relist forgets which versions of their lists the sources had applied: they are read anew,
// and what was lost comes back if a list names it.
func (p *Pool) Relist(ctx context.Context) error {
	meta, err := p.client.HGetAll(ctx, p.keys.meta()).Result()
	if err != nil {
		return fmt.Errorf("have sources read again: %w", err)
	}
	var sums []string
	for f := range meta {
		if strings.HasPrefix(f, "sum:") {
			sums = append(sums, f)
		}
	}
	if len(sums) == 0 {
		return nil
	}
	if err := p.client.HDel(ctx, p.keys.meta(), sums...).Err(); err != nil {
		return fmt.Errorf("have sources read again: %w", err)
	}
	return nil
}
