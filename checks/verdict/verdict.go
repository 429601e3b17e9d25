package verdict

import "time"

// Stage is the part of a transaction that failed first.
type Stage string

// The stages, in the order of a transaction.
const (
	Resolve   Stage = "resolve"
	Connect   Stage = "connect"
	ProxyTLS  Stage = "proxy_tls"
	ProxyAuth Stage = "proxy_auth"
	Tunnel    Stage = "tunnel"
	TargetTLS Stage = "target_tls"
	Request   Stage = "request"
	Headers   Stage = "headers"
	Body      Stage = "body"
	Verify    Stage = "verify"
)

// Stages lists every stage in the order of a transaction.
var Stages = []Stage{Resolve, Connect, ProxyTLS, ProxyAuth, Tunnel, TargetTLS, Request, Headers, Body, Verify}

// Blame says whose fault a failure is.
type Blame string

// Who can be to blame; Unknown where the wire does not tell.
const (
	Proxy       Blame = "proxy"
	Credentials Blame = "credentials"
	Target      Blame = "target"
	Local       Blame = "local"
	Unknown     Blame = "unknown"
)

// Verdict is what one probe says of one endpoint.
type Verdict struct {
	Passed bool
	Stage  Stage  // the first stage that failed; empty when passed
	Reason Reason // why; empty when passed
	Blame  Blame  // who; empty when passed
	Detail string // one plain sentence, at most 200 bytes, no secret in it

	Status     int                     // the target's (or the refusing proxy's) HTTP status; 0: none seen
	Bytes      int64                   // body bytes read, after decoding
	Timings    map[Stage]time.Duration // what each stage that was entered took
	Total      time.Duration           // the whole transaction
	RetryAfter time.Duration           // 0: not asked for
}

// Class is the kind of failure, stage.reason: failures are counted by it.
func (v Verdict) Class() string { return string(v.Stage) + "." + string(v.Reason) }
