package store

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"proxyward/store/record"
)

// aim is how an endpoint shall stand. The record says so; everything else follows it.
type aim struct {
	raw    string       // the record; empty: none
	state  record.State // as the record says
	from   record.State // as the counts have it now
	member string       // of the eligible set: "" no, "in" as it is, "anew" at a new score
	kept   int64        // allocations to keep, or to enter the set with
	exact  string       // score to enter the set with; empty: by the rule
	lane   record.Lane
	due    int64
	token  string // of the live lease; empty: it has none
	url    string // "=" as it is, "-" none, else the full URL: a secret
	holdMs int64
	rules  []string // it broke
	told   record.Step
	silent bool // writes no event
}

const (
	notMember = ""
	isMember  = "in"
	anew      = "anew"
)

// aim is how an endpoint that broke some rules shall stand, as seen at pool time now.
func (e Entry) aim(now int64, broke []Violation) aim {
	a := aim{from: e.countedAs(), url: "=", lane: record.NoLane, told: record.Step{By: record.ByRepair, AtMs: now}}
	var why []string
	for _, v := range broke {
		why = append(why, v.What)
		if !slices.Contains(a.rules, v.Invariant) {
			a.rules = append(a.rules, v.Invariant)
		}
	}
	a.told.Detail = strings.Join(why, "; ")
	if !e.Known() || misnamed(e.ID) {
		a.url, a.silent = "-", leaksPassword(e.ID) // an event would tell the password again
		if !e.Known() {
			a.from = ""
		}
		return a
	}
	rec, changed := e.mended(now)
	a.state, a.holdMs, a.told.From, a.told.To = rec.State, rec.HoldUntilMs, e.Record.State, rec.State
	if e.Member != (rec.State == record.Eligible) {
		changed = true
	}
	a.seat(e, &rec)
	if a.raw = e.Raw; changed {
		rec.History = withStep(rec.History, a.told)
		a.raw = rec.Encode()
	} else {
		a.kept = 0 // they stand in it
	}
	a.lane, a.due = e.waits(rec, now)
	if e.Leased && token.MatchString(e.Token) && e.leaseEnds(now) {
		a.token = e.Token
		if home := rec.State.Lane(); !fits(laneOf(e.Token), home) {
			a.token = string(a.lane) + "." + strconv.FormatInt(a.due, 10) + "." + nonceOf(e.Token)
		}
	}
	return a
}

// seat says whether it is eligible, and takes the allocations out of a record that is
// written anew: the script appends them, or the set counts them.
func (a *aim) seat(e Entry, rec *record.Record) {
	a.member, a.kept = notMember, rec.Allocations
	if rec.State == record.Eligible {
		a.member = isMember
		if e.Member && !exact(e.seen[2]) {
			a.member = anew
		}
	}
	rec.Allocations = 0
}

// mended is the record as it should be, and whether that differs from what is kept.
func (e Entry) mended(now int64) (rec record.Record, changed bool) {
	rec = e.Record.Clone()
	unread := rec.State == ""
	if unread {
		rec = salvaged(e.Raw)
	}
	switch {
	case rec.State != record.Disabled && len(rec.Holds) > 0:
		turn(&rec, record.Disabled, now)
	case unread, rec.State == record.Disabled && len(rec.Holds) == 0, rec.State == record.Eligible && !e.Member && rec.LastOKMs == 0:
		turn(&rec, record.Candidate, now)
		rec.Note, rec.HoldUntilMs, rec.Classes = "", 0, nil
	}
	miscounted := rec.State == record.Eligible && rec.Allocations != 0
	for _, n := range []*int64{&rec.Allocations, &rec.HoldUntilMs} {
		if !countable(*n) {
			*n, miscounted = 0, true
		}
	}
	leaked := scrub(&rec, e.URL, e.Raw)
	return rec, unread || leaked || miscounted || rec.State != e.Record.State
}

// turn gives a record another state, which no failure caused.
func turn(rec *record.Record, to record.State, now int64) {
	rec.State, rec.SinceMs, rec.By = to, now, record.ByRepair
	rec.UntilMs, rec.PauseMs, rec.Rise, rec.Fall = 0, 0, 0, 0
	rec.Stage, rec.Reason, rec.Blame, rec.Detail = "", "", "", ""
}

// salvaged is what can be trusted of a record that cannot be read: who lists the endpoint,
// and that somebody holds it, where these parts of it can be read. It has no state yet.
func salvaged(raw string) record.Record {
	var s struct {
		Sources     []string      `json:"sources"`
		Holds       []record.Hold `json:"holds"`
		HoldUntilMs int64         `json:"hold_until_ms"`
		Note        string        `json:"note"`
		URLRev      int           `json:"url_rev"`
		Allocations int64         `json:"allocations"`
	}
	if json.Unmarshal([]byte(raw), &s) != nil {
		return record.Record{}
	}
	return record.Record{Sources: s.Sources, Holds: s.Holds, HoldUntilMs: s.HoldUntilMs, Note: s.Note, URLRev: s.URLRev,
		Allocations: s.Allocations}
}

// withStep appends a step; the same repair made again takes the place of the one before, so
// that it does not push all else out of the history.
func withStep(history []record.Step, s record.Step) []record.Step {
	if n := len(history); n > 0 && history[n-1].By == s.By && history[n-1].Detail == s.Detail && history[n-1].To == s.To {
		history = history[:n-1]
	}
	history = append(history, s)
	return history[max(0, len(history)-record.HistoryLength):]
}

// waits is where it waits: where it does now if that is right, else in its own lane, due
// now; a cooling one when its pause is over.
func (e Entry) waits(rec record.Record, now int64) (record.Lane, int64) {
	home := rec.State.Lane()
	if home == record.NoLane {
		return home, 0
	}
	for _, lane := range []record.Lane{record.Urgent, home} {
		if score, in := e.Lanes[lane]; in && fits(lane, home) && e.comes(lane, now) {
			return lane, score
		}
	}
	if rec.State == record.Cooling && rec.UntilMs > now && countable(rec.UntilMs) && rec.UntilMs-rec.PauseMs <= now {
		return home, rec.UntilMs
	}
	return home, now
}

func nonceOf(token string) string { return token[strings.LastIndexByte(token, '.')+1:] }

// args are the 25 values of picture.lua.
func (a aim) args(e Entry) []any {
	member := ""
	if e.Member {
		member = "1"
	}
	args := []any{e.ID, e.Raw, member}
	for _, i := range []int{3, 4, 5, 6, 7, 8, 9} {
		args = append(args, e.seen[i])
	}
	holds, from := "", ""
	if a.holdMs > 0 {
		holds = strconv.FormatInt(a.holdMs, 10)
	}
	if !a.silent {
		if from = string(a.told.From); from == "" {
			from = string(None)
		}
	}
	return append(args, a.raw, a.member, a.kept, a.exact, string(a.lane), a.due, a.token, a.url, holds,
		string(a.from), string(a.state), strings.Join(a.rules, " "), from, a.told.Detail, string(a.told.By))
}
