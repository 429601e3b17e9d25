package policy

import (
	"slices"
	"time"

	"proxyward/checks/verdict"
	"proxyward/store/record"
)

// At is the moment and the cause of a change that no probe made.
type At struct {
	Ms int64 // pool time
	By record.By
}

// Listed is an entry of a source: where it was found, and whether its URL differs from
// the one stored (a new or changed password).
type Listed struct {
	Source     string
	URLChanged bool
	Delay      time.Duration // until the first probe of a new or returning endpoint
}

// Enroll makes the record of an endpoint seen for the first time.
func Enroll(l Listed, at At) (record.Transition, error) {
	m := machine{at: at.Ms, by: at.By, next: record.Record{Sources: []string{l.Source}}}
	return m.move(record.Candidate, l.Delay)
}

// Relist notes that a source holds an endpoint already known. It lifts the hold
// `retired`, and with a changed password the hold `policy`; an operator's hold stays. A
// changed password keeps the history and makes the endpoint due at once. The second
// result is false when nothing changes.
func Relist(rec record.Record, l Listed, at At) (record.Transition, bool, error) {
	m := machine{from: rec.State, next: rec.Clone(), at: at.Ms, by: at.By}
	m.next.Sources = addTo(m.next.Sources, l.Source)
	m.next.Holds = without(m.next.Holds, record.Retired)
	if l.URLChanged {
		m.next.URLRev++
		m.next.Holds = without(m.next.Holds, record.Policy)
	}
	if len(m.next.Sources) == len(rec.Sources) && len(m.next.Holds) == len(rec.Holds) && !l.URLChanged {
		return record.Transition{}, false, nil
	}
	t, err := m.release(l.Delay)
	if l.URLChanged && t.To != record.Disabled {
		t.DueMs, t.DelayMs = at.Ms, 0
	}
	return t, true, err
}

// Unlist notes that a source no longer holds the endpoint; with its last source it gets
// the hold `retired`, unless keep is set. The second result is false when nothing changes.
func Unlist(rec record.Record, source string, keep bool, at At) (record.Transition, bool, error) {
	if !slices.Contains(rec.Sources, source) {
		return record.Transition{}, false, nil
	}
	m := machine{from: rec.State, next: rec.Clone(), at: at.Ms, by: at.By}
	m.next.Sources = without(m.next.Sources, source)
	if len(m.next.Sources) > 0 || keep {
		t, err := m.note()
		return t, true, err
	}
	t, err := m.withdrawUnprobed(record.Retired)
	return t, true, err
}

// Disable adds the operator's hold, with a note; until is the pool time in ms at which it
// ends by itself, 0 for never.
func Disable(rec record.Record, note string, until int64, at At) (record.Transition, error) {
	m := machine{from: rec.State, next: rec.Clone(), at: at.Ms, by: at.By}
	m.next.Note, m.next.HoldUntilMs = note, until
	return m.withdrawUnprobed(record.Operator)
}

// Enable lifts the operator's hold and the hold `policy`, and ends the note; delay is the
// time until the first probe. The second result is false when it held neither.
func Enable(rec record.Record, delay time.Duration, at At) (record.Transition, bool, error) {
	m := machine{from: rec.State, next: rec.Clone(), at: at.Ms, by: at.By}
	m.next.Holds = without(without(m.next.Holds, record.Operator), record.Policy)
	if len(m.next.Holds) == len(rec.Holds) {
		return record.Transition{}, false, nil
	}
	m.next.Note, m.next.HoldUntilMs = "", 0
	t, err := m.release(delay)
	return t, true, err
}

// Expire lifts an operator's hold whose time is over, and ends its note; the hold `policy`
// stays. The second result is false when there is none.
func Expire(rec record.Record, delay time.Duration, at At) (record.Transition, bool, error) {
	if rec.HoldUntilMs == 0 || rec.HoldUntilMs > at.Ms {
		return record.Transition{}, false, nil
	}
	m := machine{from: rec.State, next: rec.Clone(), at: at.Ms, by: at.By}
	m.next.Holds = without(m.next.Holds, record.Operator)
	m.next.Note, m.next.HoldUntilMs = "", 0
	t, err := m.release(delay)
	return t, true, err
}

// withdrawUnprobed adds a hold that no failure caused: one seen earlier is not told as
// the reason.
func (m *machine) withdrawUnprobed(hold record.Hold) (record.Transition, error) {
	if m.from != record.Disabled {
		m.blame(verdict.Verdict{})
	}
	return m.withdraw(hold)
}

// release makes a disabled endpoint without holds a candidate again.
func (m *machine) release(delay time.Duration) (record.Transition, error) {
	if m.from != record.Disabled || len(m.next.Holds) > 0 {
		return m.note()
	}
	m.next.Classes = nil
	m.blame(verdict.Verdict{})
	return m.move(record.Candidate, delay)
}
