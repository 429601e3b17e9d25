package store

import (
	"context"
	"fmt"

	"proxyward/checks/endpoint"
	"proxyward/store/record"
)

// Saved is one endpoint in an export: what a pool needs to go on with it elsewhere. Times
// are pool time in ms.
type Saved struct {
	Endpoint string        `json:"endpoint"`
	URL      string        `json:"url,omitempty"` // with its password: a secret, left out unless asked for
	Record   record.Record `json:"record"`        // with the allocations of a member of the eligible set, too
	DueMs    int64         `json:"due_ms,omitempty"`
}

// Save is the endpoint for an export. One that is asked for or being probed is due at once;
// one on trial cools.
func (e Entry) Save(passwords bool) Saved {
	s := Saved{Endpoint: e.ID, Record: e.Record.Clone()}
	s.Record.Allocations = e.Allocations()
	if s.Record.State == record.Permitted {
		s.Record.State, s.Record.Rise = record.Cooling, 0
	}
	if passwords && e.URL != e.ID {
		s.URL = e.URL
	}
	home := e.Record.State.Lane()
	for lane, due := range e.Lanes {
		if lane == home { // an urgent request is not kept
			s.DueMs = due
		}
	}
	return s
}

// Check says what is wrong with a line of an export, without telling a secret.
func (s *Saved) Check() error {
	e, err := endpoint.Parse(s.Endpoint)
	switch {
	case err != nil:
		return fmt.Errorf("bad endpoint: %w", err)
	case leaksPassword(s.Endpoint) || e.ID() != s.Endpoint:
		return fmt.Errorf("bad endpoint: its name is %s", e.ID())
	}
	if s.URL != "" {
		u, err := endpoint.Parse(s.URL)
		if err != nil || u.ID() != s.Endpoint || u.URL() != s.URL {
			return fmt.Errorf("bad url: it is not that of %s", s.Endpoint)
		}
	}
	raw := s.Record.Encode()
	r, err := decode(s.Endpoint, raw)
	switch {
	case err != nil:
		return err
	case leaks(s.URL, raw):
		return fmt.Errorf("bad record of %s: it contains the password", s.Endpoint)
	case (r.State == record.Disabled) != (len(r.Holds) > 0):
		return fmt.Errorf("bad record of %s: %s with holds %v", s.Endpoint, r.State, r.Holds)
	}
	for _, n := range []int64{s.DueMs, r.Allocations, r.HoldUntilMs, r.UntilMs, r.PauseMs, r.SinceMs, r.LastOKMs, r.LastProbeMs} {
		if !countable(n) {
			return fmt.Errorf("bad record of %s: %d is out of range", s.Endpoint, n)
		}
	}
	return nil
}

// Restoring is how an export is put into a pool.
type Restoring struct {
	SavedMs   int64 // pool time of the export
	ProvenMs  int64 // who was eligible stays so if its last pass is not longer ago, in ms; others are candidates again
	Overwrite bool  // endpoints that the pool has already, too
	Exact     bool  // members enter the eligible set with their very scores; else where newcomers do
}

// Restored counts what became of the endpoints of an export.
type Restored struct {
	Restored int `json:"restored"`
	Unproven int `json:"unproven"` // of these, who was eligible and has to prove itself again
	Kept     int `json:"kept"`     // were there already, and stay as they are
}

// Restore puts saved endpoints in, in bounded moves while daemons and workers go on. Doing it
// again restores nobody twice. All of saved must have passed Check.
func (p *Pool) Restore(ctx context.Context, how Restoring, saved []Saved) (sum Restored, err error) {
	for try := 0; len(saved) > 0; try++ {
		if try == rewriteTries {
			return sum, fmt.Errorf("restore: %s keeps changing", saved[0].Endpoint)
		}
		now, err := p.Time(ctx)
		if err != nil {
			return sum, err
		}
		ids, of := make([]string, len(saved)), map[string]Saved{}
		for i, s := range saved {
			ids[i], of[s.Endpoint] = s.Endpoint, s
		}
		entries, _, err := p.Look(ctx, ids)
		if err != nil {
			return sum, err
		}
		var put []Entry
		for _, e := range entries {
			if e.Known() && !how.Overwrite {
				sum.Kept++
			} else {
				put = append(put, e)
			}
		}
		codes, err := p.stand(ctx, put, func(e Entry) aim { return how.aim(e, of[e.ID], now) })
		saved = saved[:0:0]
		for i, code := range codes {
			s := of[put[i].ID]
			if code == Changed {
				saved = append(saved, s)
				continue
			}
			sum.Restored++
			if s.Record.State == record.Eligible && how.unproven(s, now) {
				sum.Unproven++
			}
		}
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// unproven reports whether it is too long ago that an eligible one passed.
func (how Restoring) unproven(s Saved, now int64) bool {
	return now-s.Record.LastOKMs > how.ProvenMs || s.Record.LastOKMs > how.SavedMs // no pass is later than the export
}

// aim is how a saved endpoint shall stand in a pool where e is what is there.
func (how Restoring) aim(e Entry, s Saved, now int64) aim {
	rec, due := s.Record.Clone(), s.DueMs
	if ahead := how.SavedMs - now; ahead > 0 { // the other pool's clock was: nothing lies in the future for that
		due -= ahead
		for _, t := range []*int64{&rec.SinceMs, &rec.UntilMs, &rec.LastProbeMs, &rec.LastOKMs, &rec.HoldUntilMs} {
			*t = max(0, *t-ahead)
		}
	}
	if rec.State == record.Eligible && how.unproven(s, now) {
		turn(&rec, record.Candidate, now)
		rec.By, due = record.ByOperator, now
	}
	a := aim{state: rec.State, from: e.countedAs(), url: "=", lane: rec.State.Lane(), due: max(due, now), kept: rec.Allocations, holdMs: rec.HoldUntilMs,
		told: record.Step{By: record.ByOperator, AtMs: now, From: e.Record.State, To: rec.State, Detail: "restored from an export"}}
	if !e.Known() {
		a.from = ""
	}
	if s.URL != "" {
		a.url = s.URL
	}
	if rec.State == record.Eligible {
		a.member = anew
		if e.Member {
			a.member = isMember
		} else if how.Exact {
			a.exact = fmt.Sprint(rec.Allocations)
		}
	}
	if rec.State == record.Cooling {
		a.due = min(a.due, now+max(rec.PauseMs, 0))
	}
	rec.Allocations = 0 // the script appends them, or the set counts
	if a.raw = rec.Encode(); e.Leased {
		a.token = fmt.Sprintf("%s.%d.%s", a.lane, a.due, nonceOf(e.Token))
	}
	return a
}
