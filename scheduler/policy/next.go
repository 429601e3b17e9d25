package policy

import (
	"fmt"
	"slices"
	"time"

	"proxyward/checks/verdict"
	"proxyward/store/record"
)

// Result is one verdict as it reaches the machine.
type Result struct {
	verdict.Verdict
	AtMs  int64   // pool time at which it was judged, milliseconds
	Dice  float64 // in [0,1), chosen by the caller: it places the jitter
	Probe string  // the probe's name, for the step it makes
}

// Next decides what result does to the endpoint of record rec. It is pure; rec is not
// changed. A record in Cooling was claimed from the recovery lane, so it is on trial. An
// unknown state and an edge that is not drawn are errors.
func Next(rec record.Record, result Result, p Policy) (record.Transition, error) {
	if !slices.Contains(record.States, rec.State) {
		return record.Transition{}, fmt.Errorf("judge a result: unknown state %q", rec.State)
	}
	if !result.Passed && p.Disposition(result.Verdict) == GiveBack {
		wait := max(5*time.Second, p.Tick)
		wait += time.Duration(float64(wait) * result.Dice / 2)
		return record.Transition{From: rec.State, To: rec.State, GiveBack: true, DelayMs: wait.Milliseconds()}, nil
	}
	m := machine{from: rec.State, next: rec.Clone(), at: result.AtMs, dice: result.Dice, policy: p, by: record.ByProbe, probe: result.Probe}
	m.next.LastProbeMs = result.AtMs
	switch {
	case rec.State == record.Disabled:
		return m.noted(result.Verdict)
	case result.Passed:
		return m.passed(result.Verdict)
	}
	m.blame(result.Verdict)
	if p.Guarded || p.Disposition(result.Verdict) == Keep {
		return m.kept()
	}
	return m.failed(result.Verdict)
}

// machine is one step under way.
type machine struct {
	from   record.State
	next   record.Record
	at     int64
	dice   float64
	policy Policy
	by     record.By
	probe  string // empty: no probe's result
}

// noted: a result for an endpoint that was withdrawn meanwhile changes no state.
func (m *machine) noted(v verdict.Verdict) (record.Transition, error) {
	if v.Passed {
		m.next.LastOKMs, m.next.LatencyMs = m.at, v.Total.Milliseconds()
	}
	return m.note()
}

// passed: only as many passes as are asked for clear the counts by class; one of several
// proves nothing yet, and an endpoint that passes every other time must pause longer.
func (m *machine) passed(v verdict.Verdict) (record.Transition, error) {
	m.next.LastOKMs, m.next.LatencyMs, m.next.Fall = m.at, v.Total.Milliseconds(), 0
	if m.from != record.Eligible {
		m.next.Rise++
		if m.next.Rise < m.policy.Rise {
			return m.undecided()
		}
	}
	m.next.Rise, m.next.Classes = 0, nil
	m.blame(verdict.Verdict{})
	recheck := around(m.policy.Recheck, m.policy.Spread, m.dice)
	if m.from == record.Eligible {
		return m.stay(recheck)
	}
	m.next.PauseMs, m.next.UntilMs = 0, 0
	return m.move(record.Eligible, recheck)
}

// undecided: some passes are still missing. A trial says so in its record; its admission
// was told when it was claimed.
func (m *machine) undecided() (record.Transition, error) {
	t, err := m.stay(m.policy.Confirm)
	if m.from == record.Cooling {
		t.To, t.Next.State = record.Permitted, record.Permitted
		t.Next.SinceMs, t.Next.UntilMs, t.Next.By = m.at, 0, m.by
	}
	return t, err
}

// kept: the failure is not the endpoint's; no count moves. A trial it spoiled is over: the
// endpoint pauses as long as before, and the passes of the trial are void.
func (m *machine) kept() (record.Transition, error) {
	base := m.policy.Cooldown.Base
	switch {
	case m.from == record.Eligible && m.policy.Guarded:
		return m.stay(max(m.policy.Confirm, m.policy.Patience))
	case m.from == record.Eligible:
		return m.stay(m.policy.Confirm)
	case m.from == record.Candidate:
		return m.stay(max(m.policy.Confirm, around(base, base/2, m.dice)))
	}
	m.next.Rise = 0
	if m.next.PauseMs > 0 {
		base = time.Duration(m.next.PauseMs) * time.Millisecond
	}
	return m.cool(base)
}

func (m *machine) failed(v verdict.Verdict) (record.Transition, error) {
	rule := m.policy.rule(v)
	if m.next.Classes == nil {
		m.next.Classes = map[string]record.Count{}
	}
	n := m.next.Classes[v.Class()].N + 1
	m.next.Classes[v.Class()] = record.Count{N: n, AtMs: m.at}
	m.next.Rise = 0
	if rule.DisableAfter > 0 && n >= rule.DisableAfter && v.Blame != verdict.Unknown {
		return m.withdraw(record.Policy)
	}
	if m.from == record.Eligible {
		m.next.Fall++
		if m.next.Fall < m.policy.Fall {
			return m.stay(m.policy.Confirm)
		}
	}
	m.next.Fall = 0
	return m.cool(rule.pause(n, v.RetryAfter, m.dice))
}

func (m *machine) blame(v verdict.Verdict) {
	m.next.Stage, m.next.Reason = string(v.Stage), string(v.Reason)
	m.next.Blame, m.next.Detail = string(v.Blame), v.Detail
}
