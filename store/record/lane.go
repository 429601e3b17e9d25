package record

// Lane is one of the queues of endpoints waiting for a probe.
type Lane string

// The lanes in the order they are served, and NoLane for a disabled endpoint.
const (
	Urgent         Lane = "urgent"
	Recovery       Lane = "recovery"
	Recheck        Lane = "recheck"
	CandidateQueue Lane = "candidate"
	NoLane         Lane = "disabled"
)

// Lanes lists the queues in the order they are served.
var Lanes = []Lane{Urgent, Recovery, Recheck, CandidateQueue}

// Lane is the queue an endpoint of this state waits in; candidates and eligible ones may
// also stand in Urgent.
func (s State) Lane() Lane {
	switch s {
	case Candidate:
		return CandidateQueue
	case Eligible:
		return Recheck
	case Cooling, Permitted:
		return Recovery
	}
	return NoLane
}
