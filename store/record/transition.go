package record

// Transition is what the policy decided about one endpoint: a value the store carries out.
type Transition struct {
	From State  // as recorded; empty: the endpoint had no record
	To   State  // as recorded from now on; equal to From when only counts or notes change
	Next Record // what is written

	// Event is the step told in the history and the events stream; nil when nobody need
	// hear of it. A failed trial is told as permitted to cooling, though both records say
	// cooling.
	Event *Step

	// DueMs is the pool time at which the endpoint is due in To's lane, never later than
	// DelayMs after it is written. Zero leaves its place in the lanes alone.
	DueMs   int64
	DelayMs int64

	// GiveBack: nothing is written; the lease is returned and due again after DelayMs.
	GiveBack bool
}
