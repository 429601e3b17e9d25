package store

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

// Violation is one broken invariant.
type Violation struct {
	Invariant string `json:"invariant"` // I1 …
	Endpoint  string `json:"endpoint,omitempty"`
	What      string `json:"what"`
}

// Report is what fsck found.
type Report struct {
	Checked    int         `json:"checked"` // endpoints
	Violations []Violation `json:"violations"`
}

// Fsck checks the invariants I1, I2, I4, I6 and I7 while daemons work: every comparison
// is made on one instant's picture, so that no move under way looks like a fault.
func (p *Pool) Fsck(ctx context.Context) (Report, error) {
	r := Report{Violations: []Violation{}}
	for _, key := range append(p.keys.lanes(), p.keys.endpoints(), p.keys.eligible(), p.keys.leases(), p.keys.tokens(), p.keys.urls()) {
		err := p.scanIDs(ctx, key, func(ids []string) error {
			entries, _, err := p.Look(ctx, ids)
			for _, e := range entries {
				if key == p.keys.endpoints() && e.Known() {
					r.Checked++
				} else if key == p.keys.endpoints() || e.Known() {
					continue // each known one is checked once, from its record
				}
				r.Violations = append(r.Violations, e.check()...)
			}
			return err
		})
		if err != nil {
			return r, fmt.Errorf("check pool: %w", err)
		}
	}
	tallies, err := p.tally(ctx)
	r.Violations = append(r.Violations, tallies...)
	slices.SortFunc(r.Violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Invariant, b.Invariant), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.What, b.What))
	})
	r.Violations = slices.Compact(r.Violations) // a stray one stands in several keys
	return r, err
}

// check holds one endpoint's picture against the invariants.
func (e Entry) check() (found []Violation) {
	add := func(invariant, what string, args ...any) {
		found = append(found, Violation{invariant, e.ID, fmt.Sprintf(what, args...)})
	}
	if !e.Known() {
		e.checkStray(add)
		return found
	}
	state := e.Record.State
	if state == "" {
		add("I1", "its record cannot be read")
		return found
	}
	e.checkPlace(add)
	if e.Member != (state == record.Eligible) {
		add("I2", "record says %s, member of the eligible set: %v", state, e.Member)
	}
	if state == record.Eligible && e.Record.Allocations != 0 {
		add("I6", "eligible, yet its record keeps allocations that the set counts")
	}
	if e.Score < 0 || e.Record.Allocations < 0 {
		add("I6", "negative allocations")
	}
	if (state == record.Disabled) != (len(e.Record.Holds) > 0) {
		add("I1", "record says %s with holds %v", state, e.Record.Holds)
	}
	if leaks(e.ID, e.URL, e.Raw) {
		add("I7", "its id or record contains the password")
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
}

func (e Entry) checkPlace(add func(string, string, ...any)) {
	places := len(e.Lanes)
	if e.Leased {
		places++
	}
	if e.Leased != (e.Token != "") {
		add("I1", "leased: %v, token: %q", e.Leased, e.Token)
	}
	state, home := e.Record.State, e.Record.State.Lane()
	back := laneOf(e.Token)
	if e.Token != "" && back != home && (back != record.Urgent || home == record.Recovery || home == record.NoLane) {
		add("I1", "%s, yet its lease goes back to %q", state, back)
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
	for lane := range e.Lanes {
		if lane != home && (lane != record.Urgent || home == record.Recovery) {
			add("I1", "%s, yet it waits in due:%s", state, lane)
		}
	}
}

func (e Entry) laneNames() (names []record.Lane) {
	for _, l := range record.Lanes {
		if _, in := e.Lanes[l]; in {
			names = append(names, l)
		}
	}
	return names
}

// leaks reports whether the password of the full URL stands in the id or the record, as
// part of a URL or as Basic credentials; the bare word could be anything.
func leaks(id, full, raw string) bool {
	if u, err := url.Parse(id); err == nil && u.User != nil {
		if _, has := u.User.Password(); has {
			return true
		}
	}
	u, err := url.Parse(full)
	if err != nil || u.User == nil {
		return false
	}
	password, has := u.User.Password()
	_, escaped, _ := strings.Cut(u.User.String(), ":")
	basic := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
	return has && (strings.Contains(raw, ":"+password+"@") || strings.Contains(raw, ":"+escaped+"@") || strings.Contains(raw, basic))
}

// tally checks I4 on one instant.
func (p *Pool) tally(ctx context.Context) (found []Violation, err error) {
	k, tx := p.keys, p.client.TxPipeline()
	counts, records, members, tokens := tx.HGetAll(ctx, k.counts()), tx.HLen(ctx, k.endpoints()), tx.ZCard(ctx, k.eligible()), tx.HVals(ctx, k.tokens())
	places := []*redis.IntCmd{tx.ZCard(ctx, k.leases())}
	for _, key := range k.lanes() {
		places = append(places, tx.ZCard(ctx, key))
	}
	if _, err := tx.Exec(ctx); err != nil {
		return nil, fmt.Errorf("check pool: %w", err)
	}
	add := func(what string, args ...any) {
		found = append(found, Violation{Invariant: "I4", What: fmt.Sprintf(what, args...)})
	}
	sum, placed := int64(0), int64(0)
	for _, n := range counts.Val() {
		sum += integer(n)
	}
	for _, c := range places {
		placed += c.Val()
	}
	if n := integer(counts.Val()[string(record.Eligible)]); n != members.Val() {
		add("counts say %d eligible, the set has %d", n, members.Val())
	}
	if sum != records.Val() {
		add("counts add up to %d, there are %d records", sum, records.Val())
	}
	disabled := integer(counts.Val()[string(record.Disabled)]) - countLane(tokens.Val(), record.NoLane)
	if placed != records.Val()-disabled {
		add("lanes and leases hold %d, expected %d", placed, records.Val()-disabled)
	}
	return found, nil
}

// laneOf is the lane a token names.
func laneOf(token string) record.Lane {
	lane, _, _ := strings.Cut(token, ".")
	return record.Lane(lane)
}
