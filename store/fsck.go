package store

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"proxyward/store/record"
)

// Violation is one broken invariant.
type Violation struct {
	Invariant string `json:"invariant"` // I1 …
	Endpoint  string `json:"endpoint,omitempty"`
	What      string `json:"what"`
	Mended    bool   `json:"mended,omitempty"`
}

// Report is what fsck found.
type Report struct {
	Checked    int         `json:"checked"` // endpoints
	Violations []Violation `json:"violations"`
}

// Fsck checks the invariants I1, I2, I4, I6, I7 and I8 while daemons work: every comparison
// is made on one instant's picture, so that no move under way looks like a fault.
func (p *Pool) Fsck(ctx context.Context) (Report, error) { return p.goThrough(ctx, false) }

// goThrough is one sweep through the whole pool.
func (p *Pool) goThrough(ctx context.Context, mend bool) (Report, error) {
	r := Report{Violations: []Violation{}}
	for s := newSweep(p, mend); !s.Done(); {
		part, err := s.Step(ctx, 10*batch)
		r.Checked += part.Checked
		r.Violations = append(r.Violations, part.Violations...)
		if err != nil {
			return r, fmt.Errorf("check pool: %w", err)
		}
	}
	r.Violations = inOrder(r.Violations) // a stray one stands in several keys
	return r, nil
}

// inOrder sorts violations and tells each once.
func inOrder(all []Violation) []Violation {
	slices.SortFunc(all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Invariant, b.Invariant), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(all)
}

// check holds one endpoint's picture, taken at pool time now, against the invariants.
func (e Entry) check(now int64) (found []Violation) {
	add := func(invariant, what string, args ...any) {
		found = append(found, Violation{Invariant: invariant, Endpoint: e.shown(), What: fmt.Sprintf(what, args...)})
	}
	switch {
	case leaksPassword(e.ID):
		add("I7", "its id contains a password, which is not shown here")
	case e.Known() && misnamed(e.ID):
		add("I1", "its id is that of no endpoint: nothing can probe it")
	}
	e.checkJobs(add)
	if !e.Known() {
		e.checkStray(add)
		return found
	}
	state := e.Record.State
	if state == "" {
		add("I1", "its record cannot be read")
		return found
	}
	e.checkPlace(now, add)
	if e.Member != (state == record.Eligible) {
		add("I2", "record says %s, member of the eligible set: %v", state, e.Member)
	}
	if state == record.Eligible && e.Record.Allocations != 0 {
		add("I6", "eligible, yet its record keeps allocations that the set counts")
	}
	if e.Member && !exact(e.seen[2]) || !countable(e.Record.Allocations) {
		add("I6", "allocations below zero, or beyond what can be counted")
	}
	if (state == record.Disabled) != (len(e.Record.Holds) > 0) {
		add("I1", "record says %s with holds %v", state, e.Record.Holds)
	}
	if e.HoldMs != e.Record.HoldUntilMs {
		add("I1", "record says its hold ends at %d, the list of holds says %d (0: never)", e.Record.HoldUntilMs, e.HoldMs)
	}
	if leaks(e.URL, e.Raw) {
		add("I7", "its record contains the password")
	}
	return found
}

func (e Entry) checkStray(add func(string, string, ...any)) {
	if e.Member {
		add("I2", "member of the eligible set without a record")
	}
	if len(e.Lanes) > 0 || e.Leased || e.Token != "" {
		add("I1", "waits in a lane or holds a lease without a record")
	}
	if e.URL != e.ID {
		add("I1", "has a URL without a record")
	}
	if e.seen[9] != "" {
		add("I1", "has a hold without a record")
	}
}

func (e Entry) checkPlace(now int64, add func(string, string, ...any)) {
	places := len(e.Lanes)
	if e.Leased {
		places++
	}
	if e.Leased != (e.Token != "") {
		add("I1", "leased: %v, with a token: %v", e.Leased, e.Token != "")
	} else if e.Leased && !e.leaseEnds(now) {
		add("I1", "its lease ends at %s, which no probe lasts", e.seen[7])
	} else if e.Leased && !token.MatchString(e.Token) {
		add("I1", "its lease has a token that nobody was given")
	}
	state, home := e.Record.State, e.Record.State.Lane()
	if e.Token != "" && !fits(laneOf(e.Token), home) {
		add("I1", "%s, yet its lease goes back to %q", state, laneOf(e.Token))
	}
	if state == record.Disabled {
		if len(e.Lanes) > 0 {
			add("I1", "disabled, yet it waits in a lane")
		}
		return
	}
	if places != 1 {
		add("I1", "%s, in %d places: lanes %v, leased %v", state, places, e.laneNames(), e.Leased)
		return
	}
	for _, lane := range e.laneNames() {
		if !fits(lane, home) {
			add("I1", "%s, yet it waits in due:%s", state, lane)
		}
		if !e.comes(lane, now) {
			add("I1", "waits in due:%s until %s, which never comes", lane, e.laneScore(lane))
		}
	}
}

// fits reports whether an endpoint whose lane is home may wait in lane.
func fits(lane, home record.Lane) bool {
	return lane == home || lane == record.Urgent && (home == record.Recheck || home == record.CandidateQueue)
}

func (e Entry) laneNames() (names []record.Lane) {
	for _, l := range record.Lanes {
		if _, in := e.Lanes[l]; in {
			names = append(names, l)
		}
	}
	return names
}

// laneScore is its score in a lane as Redis tells it.
func (e Entry) laneScore(lane record.Lane) string {
	return e.seen[3+slices.Index(record.Lanes, lane)]
}

// comes reports whether it will be due in that lane within the time that anybody has to wait.
func (e Entry) comes(lane record.Lane, now int64) bool {
	return exact(e.laneScore(lane)) && (lane == record.Urgent || e.far == 0 || e.Lanes[lane] <= now+e.far)
}

// longestLease is more than any probe can take, in ms.
const longestLease = 7 * 24 * 3600 * 1000

func (e Entry) leaseEnds(now int64) bool {
	return exact(e.seen[7]) && e.LeaseMs <= now+longestLease
}

// token is LANE.SCORE.NONCE.
var token = regexp.MustCompile(`^[a-z]+\.[0-9]+\.[^.]+$`)

// laneOf is the lane a token names.
func laneOf(token string) record.Lane {
	lane, _, _ := strings.Cut(token, ".")
	return record.Lane(lane)
}
