package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// State is where an endpoint stands in its life.
type State string

// The states. Permitted is written only while a trial of several passes is undecided.
const (
	Candidate State = "candidate" // enrolled, never yet judged
	Eligible  State = "eligible"  // in the set workers allocate from
	Cooling   State = "cooling"   // out, until a recorded deadline
	Permitted State = "permitted" // out, deadline over, admitted to a trial
	Disabled  State = "disabled"  // withdrawn, never claimed
)

// States lists every state in the order people read them.
var States = []State{Candidate, Eligible, Cooling, Permitted, Disabled}

// Hold is a ground for which an endpoint is disabled.
type Hold string

// The holds. An endpoint is a candidate again when its last hold goes.
const (
	Operator Hold = "operator"
	Retired  Hold = "retired" // gone from every source
	Policy   Hold = "policy"  // a class of failure with disable_after
)

// By says who caused a transition.
type By string

// The causes of a transition.
const (
	ByProbe    By = "probe"
	ByOperator By = "operator"
	BySource   By = "source"
	ByReport   By = "report"
	ByGuard    By = "guard"
	ByRepair   By = "repair"
)

// HistoryLength is how many transitions a record keeps.
const HistoryLength = 5

// Record is all that is kept of an endpoint, without any secret. Times are pool time in
// milliseconds since the Unix epoch; durations are milliseconds. Empty fields are left
// out of the JSON.
type Record struct {
	State       State            `json:"state"`
	SinceMs     int64            `json:"since_ms,omitempty"`
	UntilMs     int64            `json:"until_ms,omitempty"` // cooling: the deadline
	PauseMs     int64            `json:"pause_ms,omitempty"`
	By          By               `json:"by,omitempty"`
	Stage       string           `json:"stage,omitempty"`
	Reason      string           `json:"reason,omitempty"`
	Blame       string           `json:"blame,omitempty"`
	Detail      string           `json:"detail,omitempty"`
	Rise        int              `json:"rise,omitempty"` // consecutive passes, while undecided
	Fall        int              `json:"fall,omitempty"` // consecutive failures, while undecided
	Classes     map[string]Count `json:"classes,omitempty"`
	Sources     []string         `json:"sources,omitempty"`
	Holds       []Hold           `json:"holds,omitempty"`
	HoldUntilMs int64            `json:"hold_until_ms,omitempty"` // the operator's hold ends by itself
	Note        string           `json:"note,omitempty"`
	URLRev      int              `json:"url_rev,omitempty"` // grows when the password changes
	LastProbeMs int64            `json:"last_probe_ms,omitempty"`
	LastOKMs    int64            `json:"last_ok_ms,omitempty"`
	LatencyMs   int64            `json:"latency_ms,omitempty"`
	History     []Step           `json:"history,omitempty"` // oldest first

	// Allocations is what the endpoint had when it last left the eligible set; the set
	// itself counts while it is in. The last field: the store appends it in the script
	// that takes the member out.
	Allocations int64 `json:"allocations,omitempty"`
}

// Count is how often a class of failure (stage.reason) struck since the last pass.
type Count struct {
	N    int   `json:"n"`
	AtMs int64 `json:"at_ms"`
}

// Step is one past transition.
type Step struct {
	From    State  `json:"from,omitempty"`
	To      State  `json:"to"`
	Stage   string `json:"stage,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Blame   string `json:"blame,omitempty"`
	Detail  string `json:"detail,omitempty"`
	By      By     `json:"by"`
	AtMs    int64  `json:"at_ms"`
	PauseMs int64  `json:"pause_ms,omitempty"`
	UntilMs int64  `json:"until_ms,omitempty"`
	Probe   string `json:"probe,omitempty"` // the one that made it, as events and logs name it; empty: none did
}

// Encode writes the record as the JSON kept in Redis.
func (r Record) Encode() string {
	b, err := json.Marshal(r)
	if err != nil { // no field of Record can fail to marshal
		panic(err)
	}
	return string(b)
}

// Decode reads the JSON kept in Redis.
func Decode(raw string) (Record, error) {
	var r Record
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		return r, fmt.Errorf("decode record: %w", err)
	}
	if !slices.Contains(States, r.State) {
		return r, fmt.Errorf("decode record: unknown state %q", r.State)
	}
	return r, nil
}

// Clone is a copy that shares no memory with r.
func (r Record) Clone() Record {
	r.Classes = maps.Clone(r.Classes)
	r.Sources = slices.Clone(r.Sources)
	r.Holds = slices.Clone(r.Holds)
	r.History = slices.Clone(r.History)
	return r
}
