package policy

import (
	"proxyward/store/record"
)

// Restore undoes an ejection that the guard found to be no fault of the endpoint: it is
// eligible again, with its score, and the failure no longer counts. sinceMs is when the
// failures that opened the guard began; the second result is false for an endpoint that
// they did not eject.
func Restore(rec record.Record, sinceMs int64, p Policy, at At) (record.Transition, bool, error) {
	ejected := false
	for _, step := range rec.History {
		ejected = ejected || step.From == record.Eligible && step.To == record.Cooling && step.By == record.ByProbe && step.AtMs >= sinceMs
	}
	if !ejected || rec.State != record.Cooling && rec.State != record.Permitted {
		return record.Transition{}, false, nil
	}
	m := machine{from: rec.State, next: rec.Clone(), at: at.Ms, by: at.By, policy: p}
	for class, c := range m.next.Classes {
		if c.AtMs >= sinceMs {
			c.N--
		}
		if m.next.Classes[class] = c; c.N == 0 {
			delete(m.next.Classes, class)
		}
	}
	m.next.PauseMs, m.next.UntilMs, m.next.Rise, m.next.Fall = 0, 0, 0, 0
	t, err := m.move(record.Eligible, p.Confirm)
	return t, err == nil, err
}
