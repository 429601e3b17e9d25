package tell

import (
	"fmt"
	"slices"

	"proxyward/internal/cli/screen"
	"proxyward/store"
	"proxyward/store/record"
)

// Next is what will happen to an endpoint.
type Next struct {
	AtMs  int64  `json:"at_ms"` // pool time; 0: at no known time
	Words string `json:"words"`
}

// NextOf says what happens next to an endpoint read at pool time now.
func NextOf(e store.Entry, now int64) Next {
	if e.Record.State == record.Disabled {
		return nextOfDisabled(e.Record, now)
	}
	if e.Leased {
		return Next{e.LeaseMs, "is being probed now; without a result the lease ends " + screen.When(e.LeaseMs, now)}
	}
	if _, urgent := e.Lanes[record.Urgent]; urgent {
		return Next{now, "is probed as soon as a daemon has a free slot: somebody asked for it"}
	}
	due, waits := e.Lanes[e.Record.State.Lane()]
	if !waits {
		return Next{0, "waits in no lane: run `proxyward fsck`"}
	}
	return Next{due, nextWords(e.Record.State, e.Record.LastProbeMs == 0, due, now)}
}

func nextWords(s record.State, first bool, due, now int64) string {
	over := due <= now
	switch {
	case s == record.Candidate && !first && !over:
		return "probed again " + screen.When(due, now)
	case s == record.Cooling && over:
		return "its pause is over; it gets one trial probe as soon as the trickle admits it"
	case s == record.Cooling:
		return fmt.Sprintf("cools until %s (%s), then one trial probe", screen.Clock(due, now), screen.When(due, now))
	case s == record.Permitted && over:
		return "its next trial probe is due now"
	case s == record.Permitted:
		return "next trial probe " + screen.When(due, now)
	case s == record.Candidate && over:
		return "its probe is due now"
	case s == record.Candidate:
		return "first probe " + screen.When(due, now)
	case over:
		return "its next check is due now"
	}
	return "checked again " + screen.When(due, now)
}

func nextOfDisabled(r record.Record, now int64) Next {
	switch {
	case slices.Contains(r.Holds, record.Operator) && r.HoldUntilMs > 0:
		words := fmt.Sprintf("the operator's hold ends %s (%s)", screen.When(r.HoldUntilMs, now), screen.Clock(r.HoldUntilMs, now))
		if len(r.Holds) > 1 {
			words += ", the other holds stay"
		}
		return Next{r.HoldUntilMs, words}
	case slices.Contains(r.Holds, record.Operator), slices.Contains(r.Holds, record.Policy):
		return Next{0, "nothing, until somebody runs `proxyward enable`"}
	}
	return Next{0, "nothing, until a list names it again"}
}

// Soon is the time of the next probe in two words, for a table.
func Soon(e store.Entry, now int64) string {
	if e.Record.State == record.Disabled {
		if e.Record.HoldUntilMs > 0 {
			return "free " + screen.When(e.Record.HoldUntilMs, now)
		}
		return "–"
	}
	if e.Leased {
		return "probing"
	}
	if _, urgent := e.Lanes[record.Urgent]; urgent {
		return "asked for"
	}
	due, waits := e.Lanes[e.Record.State.Lane()]
	if !waits {
		return "?"
	}
	if due <= now {
		return "due"
	}
	return screen.When(due, now)
}
