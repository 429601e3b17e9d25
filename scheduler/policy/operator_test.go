package policy

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"proxyward/store/record"
)

var (
	operator = At{Ms: now, By: record.ByOperator}
	source   = At{Ms: now, By: record.BySource}
)

func disabled(holds ...record.Hold) record.Record {
	return record.Record{State: record.Disabled, Holds: holds, Sources: []string{"a"}, SinceMs: now - 1, URLRev: 3,
		Stage: "connect", Reason: "refused", Blame: "proxy", Detail: "what happened", Allocations: 17,
		Classes: map[string]record.Count{"connect.refused": {N: 3, AtMs: now - 1}},
		History: []record.Step{{From: record.Cooling, To: record.Disabled, By: record.ByProbe, AtMs: now - 1}}}
}

func TestEnrolledIsCandidate(t *testing.T) {
	tr, err := Enroll(Listed{Source: "a", Delay: time.Minute}, source)
	if err != nil {
		t.Fatal(err)
	}
	want := record.Step{To: record.Candidate, By: record.BySource, AtMs: now}
	if tr.From != "" || tr.To != record.Candidate || tr.DueMs != now+60_000 || tr.DelayMs != 60_000 || *tr.Event != want {
		t.Errorf("%+v, event %+v", tr, tr.Event)
	}
	n := tr.Next
	if n.State != record.Candidate || n.SinceMs != now || n.By != record.BySource || !slices.Equal(n.Sources, []string{"a"}) {
		t.Errorf("record %+v", n)
	}
}

// An action on a disabled endpoint, and which holds are left; it is a candidate only
// when none is.
func TestOnlyTheLastHoldGoingMakesACandidate(t *testing.T) {
	type change func(record.Record) (record.Transition, bool, error)
	enable := change(func(r record.Record) (record.Transition, bool, error) { return Enable(r, 0, operator) })
	listed := change(func(r record.Record) (record.Transition, bool, error) {
		return Relist(r, Listed{Source: "a", Delay: time.Minute}, source)
	})
	rotated := change(func(r record.Record) (record.Transition, bool, error) {
		return Relist(r, Listed{Source: "a", Delay: time.Minute, URLChanged: true}, source)
	})
	expired := change(func(r record.Record) (record.Transition, bool, error) {
		r.HoldUntilMs = now
		return Expire(r, 0, operator)
	})
	const op, re, po = record.Operator, record.Retired, record.Policy
	hold := func(h ...record.Hold) []record.Hold { return h }
	for _, c := range []struct {
		name    string
		do      change
		holds   []record.Hold
		changed bool
		left    []record.Hold
	}{
		{"enable lifts the operator's", enable, hold(op), true, nil},
		{"enable lifts the policy's", enable, hold(po), true, nil},
		{"enable lifts both", enable, hold(op, po), true, nil},
		{"enable does not bring back what no list holds", enable, hold(re), false, hold(re)},
		{"enable leaves retired", enable, hold(op, re), true, hold(re)},
		{"a returning entry lifts retired", listed, hold(re), true, nil},
		{"a returning entry never lifts the operator's", listed, hold(op, re), true, hold(op)},
		{"a returning entry never lifts the policy's", listed, hold(re, po), true, hold(po)},
		{"an entry that was there all along changes nothing", listed, hold(op), false, hold(op)},
		{"a changed password lifts the policy's", rotated, hold(po), true, nil},
		{"a changed password lifts retired and the policy's", rotated, hold(re, po), true, nil},
		{"a changed password never lifts the operator's", rotated, hold(op, po), true, hold(op)},
		{"time lifts the operator's", expired, hold(op), true, nil},
		{"time leaves the policy's", expired, hold(op, po), true, hold(po)},
		{"time leaves retired", expired, hold(re, op), true, hold(re)},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := disabled(c.holds...)
			tr, changed, err := c.do(rec)
			if err != nil || changed != c.changed {
				t.Fatalf("changed %v, %v, want %v", changed, err, c.changed)
			}
			if !changed {
				return
			}
			n := tr.Next
			if !slices.Equal(n.Holds, c.left) {
				t.Errorf("holds %v are left, want %v", n.Holds, c.left)
			}
			if len(c.left) > 0 {
				if tr.To != record.Disabled || tr.Event != nil || tr.DueMs != 0 || n.SinceMs != rec.SinceMs {
					t.Errorf("still held, yet %+v", tr)
				}
				return
			}
			if tr.To != record.Candidate || n.State != record.Candidate || tr.Event == nil || tr.DueMs < now {
				t.Errorf("no hold is left, yet %+v", tr)
			}
			if len(n.Classes) != 0 || n.Reason != "" || n.Allocations != 17 || len(n.History) != 2 {
				t.Errorf("a fresh start with its past kept: %+v", n)
			}
		})
	}
}

func TestDisable(t *testing.T) {
	for _, s := range []record.State{record.Candidate, record.Eligible, record.Cooling, record.Permitted} {
		rec := record.Record{State: s, Stage: "verify", Reason: "http_status", PauseMs: 5, UntilMs: 6, Rise: 1, Fall: 2, Sources: []string{"a"}}
		tr, err := Disable(rec, "rack is on fire", now+1000, operator)
		if err != nil || tr.To != record.Disabled || tr.DueMs != 0 {
			t.Fatalf("%s: %+v, %v", s, tr, err)
		}
		n := tr.Next
		if !slices.Equal(n.Holds, []record.Hold{record.Operator}) || n.Note != "rack is on fire" || n.HoldUntilMs != now+1000 || n.By != record.ByOperator {
			t.Errorf("%s: %+v", s, n)
		}
		if n.PauseMs+n.UntilMs != 0 || n.Rise+n.Fall != 0 {
			t.Errorf("%s: a pause or an undecided count is left: %+v", s, n)
		}
		want := record.Step{From: s, To: record.Disabled, By: record.ByOperator, AtMs: now}
		if *tr.Event != want {
			t.Errorf("%s: event %+v blames an old failure, want %+v", s, *tr.Event, want)
		}
	}
}

func TestDisableTwice(t *testing.T) {
	rec := disabled(record.Operator, record.Policy)
	rec.Note, rec.HoldUntilMs = "first", now+5
	tr, err := Disable(rec, "second", 0, operator)
	if err != nil || tr.Event != nil || tr.DueMs != 0 {
		t.Fatalf("%+v, %v", tr, err)
	}
	if n := tr.Next; n.Note != "second" || n.HoldUntilMs != 0 || len(n.Holds) != 2 || n.Reason != "refused" {
		t.Errorf("%+v", n)
	}
}

func TestEnableEndsTheNote(t *testing.T) {
	rec := disabled(record.Operator, record.Retired)
	rec.Note, rec.HoldUntilMs = "rack is on fire", now+5
	if tr, _, err := Enable(rec, 0, operator); err != nil || tr.Next.Note != "" || tr.Next.HoldUntilMs != 0 {
		t.Errorf("%+v, %v", tr.Next, err)
	}
	for _, s := range []record.State{record.Candidate, record.Eligible, record.Cooling} {
		if _, changed, err := Enable(record.Record{State: s}, 0, operator); changed || err != nil {
			t.Errorf("enabling a %s one: %v, %v", s, changed, err)
		}
	}
}

func TestHoldEndsWhenItsTimeIsOverAndNotBefore(t *testing.T) {
	for until, want := range map[int64]bool{0: false, now - 1: true, now: true, now + 1: false} {
		rec := disabled(record.Operator)
		rec.HoldUntilMs, rec.Note = until, "for two hours"
		tr, changed, err := Expire(rec, time.Second, operator)
		if err != nil || changed != want {
			t.Errorf("until %d: changed %v, %v", until-now, changed, err)
		}
		if want && (tr.To != record.Candidate || tr.DueMs != now+1000 || tr.Next.Note != "" || tr.Next.HoldUntilMs != 0) {
			t.Errorf("until %d: %+v", until-now, tr)
		}
	}
}

func TestUnlist(t *testing.T) {
	for _, c := range []struct {
		name    string
		sources []string
		gone    string
		keep    bool
		changed bool
		to      record.State
	}{
		{"its only source", []string{"a"}, "a", false, true, record.Disabled},
		{"one of two sources", []string{"a", "b"}, "a", false, true, record.Eligible},
		{"its only source where missing ones are kept", []string{"a"}, "a", true, true, record.Eligible},
		{"a source that never had it", []string{"a"}, "b", false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := record.Record{State: record.Eligible, Sources: c.sources, Reason: "http_status"}
			tr, changed, err := Unlist(rec, c.gone, c.keep, source)
			if err != nil || changed != c.changed || tr.To != c.to || tr.DueMs != 0 {
				t.Fatalf("%+v, %v, %v", tr, changed, err)
			}
			if slices.Contains(tr.Next.Sources, c.gone) {
				t.Errorf("sources %v", tr.Next.Sources)
			}
			if held := slices.Contains(tr.Next.Holds, record.Retired); held != (c.to == record.Disabled) {
				t.Errorf("holds %v", tr.Next.Holds)
			}
			if c.to == record.Disabled && (tr.Event.By != record.BySource || tr.Event.Reason != "") {
				t.Errorf("event %+v", tr.Event)
			}
		})
	}
}

func TestRetiredWhileHeldByTheOperator(t *testing.T) {
	tr, changed, err := Unlist(disabled(record.Operator), "a", false, source)
	if err != nil || !changed || tr.Event != nil || !slices.Equal(tr.Next.Holds, []record.Hold{record.Operator, record.Retired}) {
		t.Errorf("%+v, %v, %v", tr, changed, err)
	}
}

func TestChangedPasswordKeepsTheHistoryAndIsDueNow(t *testing.T) {
	for _, s := range []record.State{record.Candidate, record.Eligible, record.Cooling, record.Permitted} {
		rec := disabled()
		rec.State, rec.UntilMs = s, now+9999
		tr, changed, err := Relist(rec, Listed{Source: "a", URLChanged: true, Delay: time.Minute}, source)
		if err != nil || !changed || tr.To != s || tr.DueMs != now || tr.DelayMs != 0 || tr.Event != nil {
			t.Fatalf("%s: %+v, %v, %v", s, tr, changed, err)
		}
		want := rec.Clone()
		want.URLRev, want.Holds = 4, tr.Next.Holds
		if len(tr.Next.Holds) != 0 || !reflect.DeepEqual(tr.Next, want) {
			t.Errorf("%s: %+v, want only url_rev to change in %+v", s, tr.Next, rec)
		}
	}
	tr, _, err := Relist(disabled(record.Policy), Listed{Source: "a", URLChanged: true, Delay: time.Minute}, source)
	if err != nil || tr.To != record.Candidate || tr.DueMs != now || tr.Next.URLRev != 4 {
		t.Errorf("released by a new password: %+v, %v, want a candidate due now", tr, err)
	}
	if tr, _, err := Relist(disabled(record.Operator), Listed{Source: "a", URLChanged: true}, source); err != nil || tr.DueMs != 0 || tr.Next.URLRev != 4 {
		t.Errorf("held by the operator: %+v, %v, want no place in a lane", tr, err)
	}
}

func TestSecondSourceIsNoted(t *testing.T) {
	rec := record.Record{State: record.Eligible, Sources: []string{"a"}}
	tr, changed, err := Relist(rec, Listed{Source: "b", Delay: time.Minute}, source)
	if err != nil || !changed || tr.To != record.Eligible || tr.DueMs != 0 || tr.Event != nil || !slices.Equal(tr.Next.Sources, []string{"a", "b"}) {
		t.Errorf("%+v, %v, %v", tr, changed, err)
	}
}
