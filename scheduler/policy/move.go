package policy

import (
	"fmt"
	"slices"
	"time"

	"proxyward/store/record"
)

// note keeps the state and the place in the lanes.
func (m *machine) note() (record.Transition, error) {
	return record.Transition{From: m.from, To: m.from, Next: m.next}, nil
}

// stay keeps the state; the next probe is due after wait.
func (m *machine) stay(wait time.Duration) (record.Transition, error) {
	t, err := m.note()
	t.DelayMs = wait.Milliseconds()
	t.DueMs = m.at + t.DelayMs
	return t, err
}

func (m *machine) cool(pause time.Duration) (record.Transition, error) {
	m.next.PauseMs = max(pause.Milliseconds(), 1)
	m.next.UntilMs = m.at + m.next.PauseMs
	return m.move(record.Cooling, time.Duration(m.next.PauseMs)*time.Millisecond)
}

// withdraw adds a hold and disables the endpoint if it is not yet.
func (m *machine) withdraw(hold record.Hold) (record.Transition, error) {
	m.next.Holds = addTo(m.next.Holds, hold)
	if m.from == record.Disabled {
		return m.note()
	}
	m.next.PauseMs, m.next.UntilMs, m.next.Rise, m.next.Fall = 0, 0, 0, 0
	return m.move(record.Disabled, 0)
}

// move goes to another state, or through a failed trial back to cooling, and tells it.
func (m *machine) move(to record.State, wait time.Duration) (record.Transition, error) {
	step := &record.Step{From: m.from, To: to, By: m.by, AtMs: m.at, PauseMs: m.next.PauseMs, UntilMs: m.next.UntilMs,
		Stage: m.next.Stage, Reason: m.next.Reason, Blame: m.next.Blame, Detail: m.next.Detail, Probe: m.probe}
	if m.from == record.Cooling && m.by == record.ByProbe { // its lease was the permission
		step.From = record.Permitted
	}
	if err := checkEdge(step.From, step.To); err != nil {
		return record.Transition{}, fmt.Errorf("next state: %w", err)
	}
	m.next.State, m.next.SinceMs, m.next.By = to, m.at, m.by
	m.next.History = append(m.next.History, *step)
	if extra := len(m.next.History) - record.HistoryLength; extra > 0 {
		m.next.History = m.next.History[extra:]
	}
	t := record.Transition{From: m.from, To: to, Next: m.next, Event: step}
	if to != record.Disabled {
		t.DelayMs = wait.Milliseconds()
		t.DueMs = m.at + t.DelayMs
	}
	return t, nil
}

func addTo[T comparable](list []T, item T) []T {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

func without[T comparable](list []T, item T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(have T) bool { return have == item })
}
