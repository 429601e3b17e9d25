package health

import "time"

// Facts are what was read of one Redis. What could not be read is left out, and its
// absence is a finding too.
type Facts struct {
	User     string // as whom it was read; empty: the default user
	Cluster  bool   // reached as a Cluster
	Sentinel *Watch // nil: no sentinels were asked
	Nodes    []Node // of a Cluster all that are known, else the one
	Pools    []Pool
	Owned    bool // there is a configuration: a pool that it does not name is nobody's
}

// Watch is what the sentinels say of their master.
type Watch struct {
	Asked, Answered int
	NoQuorum        string // why they could not fail over now; empty: they could
}

// Node is one server.
type Node struct {
	Addr string
	Away string // why it does not answer: nothing else is known of it; empty: it does

	Info     map[string]string // INFO by field; nil: it may not be read
	Save     Setting           // CONFIG GET save
	Topology map[string]string // CLUSTER INFO by field; nil: no cluster, or it may not be read

	Trips []time.Duration // round trips, in the order they were made
	Leap  time.Duration   // how far its clock went astray while we looked, by our monotonic one
	Ahead time.Duration   // its clock less this machine's

	Lacks      []string // commands its user may not run, as ACL rules name them
	Halts      []string // of these, those that scripts call: they stop half-way
	Unknown    []string // commands the server does not have
	LockedKeys []string // keys its user may not read and write

	Scripts int // how many there are
	Loaded  int // of these, those it knows; negative: it may not be asked
}

// Setting is one configuration directive of a server.
type Setting struct {
	Value string
	Known bool // it could be read
}

// Pool is one check's pool. Times are pool times in ms.
type Pool struct {
	Name       string
	Configured bool          // the configuration names it
	Exists     bool          // it has endpoints, or once had
	Recheck    time.Duration // of its configuration; 0: not known
	Broken     string        // why it could not be read; empty: it could

	Endpoints, Eligible int64
	Daemons             int // live ones
	NowMs, LastCommitMs int64
	Schema              string // of the pool, as it says; empty: it does not
	Newest              int    // the newest schema that this version knows

	OffsetMs, HeldMs int64 // the clock's corrections in all; until when they hold leases
	BehindMs         int64 // how far the server's clock is behind the pool's time
}

// Severity says how bad a finding is.
type Severity string

// The severities, from the worst.
const (
	Hurts   Severity = "hurts" // something will go wrong, or does
	Warning Severity = "warning"
	OK      Severity = "ok"
)

// Finding is one thing that was looked at, in plain words.
type Finding struct {
	Severity Severity `json:"severity"`
	Topic    string   `json:"topic"`
	Nodes    []string `json:"nodes,omitempty"` // where; empty: not about single servers, or there is one
	Check    string   `json:"check,omitempty"`
	What     string   `json:"what"`
	Mend     string   `json:"mend,omitempty"` // what to do about it
}
