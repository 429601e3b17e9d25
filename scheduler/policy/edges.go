package policy

import (
	"fmt"

	"proxyward/store/record"
)

// Edge is one allowed change of state and what causes it.
type Edge struct {
	From, To record.State // From empty: the endpoint had no record
	On       string
}

const permanent = "operator, or a permanent condition"

// Edges is the whole machine. doc.go draws it; a test holds the drawing against it.
var Edges = []Edge{
	{"", record.Candidate, "enrolled"},
	{record.Candidate, record.Eligible, "rise passes"},
	{record.Candidate, record.Cooling, "fails"},
	{record.Eligible, record.Cooling, "fall failures"},
	{record.Cooling, record.Permitted, "deadline over, trickle admits"},
	{record.Cooling, record.Eligible, "guard opens"},
	{record.Permitted, record.Eligible, "rise passes"},
	{record.Permitted, record.Cooling, "fails"},
	{record.Candidate, record.Disabled, permanent},
	{record.Eligible, record.Disabled, permanent},
	{record.Cooling, record.Disabled, permanent},
	{record.Permitted, record.Disabled, permanent},
	{record.Disabled, record.Candidate, "last hold goes"},
}

func checkEdge(from, to record.State) error {
	for _, e := range Edges {
		if e.From == from && e.To == to {
			return nil
		}
	}
	return fmt.Errorf("no edge from %q to %q", from, to)
}
