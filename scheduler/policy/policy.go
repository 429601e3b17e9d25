package policy

import (
	"time"

	"proxyward/checks/verdict"
)

// Policy is how a check treats its endpoints.
type Policy struct {
	Rise, Fall int           // consecutive results that decide; at least 1
	Confirm    time.Duration // until the next probe while a decision is open
	Recheck    time.Duration // between probes of an eligible endpoint
	Spread     time.Duration // the width over which rechecks are scattered around Recheck
	Tick       time.Duration // a lease given back is due no sooner than this
	Guarded    bool          // nobody is ejected and no pause grows: the target or we fail, not the proxies
	Patience   time.Duration // while guarded: instead of Confirm, for eligible ones; 0: Confirm
	Cooldown   Cooldown
}

// Cooldown is how long a failed endpoint pauses: Base × Factor^(n-1) for the nth failure
// of one class since the last pass, at most Max, scattered by the fraction Jitter to both
// sides. With Fall above 1 the failures before the one that decides count in n too.
type Cooldown struct {
	Rule
	Reasons map[string]Rule // by stage.reason, reason or stage; the most specific wins
}

// Rule is a cooldown for one kind of failure; a zero field is taken from the next less
// specific rule. Where Base and Max come from different rules and do not fit, the more
// specific rule has its way.
type Rule struct {
	On               Disposition
	Base, Max        time.Duration
	Factor           float64  // at least 1
	Jitter           *float64 // 0 to 1; a pointer since 0 means none
	DisableAfter     int      // failures of this class until the endpoint is disabled; negative: never
	HonourRetryAfter *bool    // pause at least as long as the peer asks, up to Max
}

// Disposition is what a failure does to the endpoint.
type Disposition string

// What a failure can do.
const (
	Keep     Disposition = "keep"      // no mark against the endpoint
	Cool     Disposition = "cool"      // counts, then cools
	GiveBack Disposition = "give back" // our own fault: as if never probed
)

// Disposition says what the verdict does under this policy: by the rule the operator set
// for its class, else by who is to blame.
func (p Policy) Disposition(v verdict.Verdict) Disposition {
	if v.Blame == verdict.Local {
		return GiveBack
	}
	if on := p.rule(v).On; on != "" {
		return on
	}
	if v.Blame == verdict.Target && !pairFault(v) {
		return Keep
	}
	return Cool
}

// pairFault: the target said it, yet it is true of this pair of proxy and target only.
func pairFault(v verdict.Verdict) bool {
	switch v.Reason {
	case verdict.RateLimited, verdict.ContentMismatch:
		return true
	case verdict.HTTPStatus:
		return v.Status == 403 || v.Status == 429
	}
	return false
}

const (
	slowBase = 10 * time.Minute
	slowMax  = 24 * time.Hour
)

// hardly heals: such a failure, like any of the credentials, pauses long from the start.
var hardly = map[verdict.Reason]bool{
	verdict.AuthRequired: true, verdict.AuthRejected: true, verdict.AuthSchemeUnsupported: true,
	verdict.ProtocolMismatch: true, verdict.MethodUnsupported: true, verdict.Forbidden: true, verdict.CertUntrusted: true,
}

// rule merges, for the verdict's class, the operator's rules from the most specific to
// the least, then what is built in, then the check's own base.
func (p Policy) rule(v verdict.Verdict) Rule {
	var r Rule
	for _, key := range []string{v.Class(), string(v.Reason), string(v.Stage)} {
		r = r.orElse(p.Cooldown.Reasons[key])
	}
	if v.Blame == verdict.Credentials || hardly[v.Reason] {
		r = r.orElse(Rule{Base: max(slowBase, p.Cooldown.Base), Max: max(slowMax, p.Cooldown.Max)})
	}
	if v.Reason == verdict.RateLimited {
		honour := true
		r = r.orElse(Rule{HonourRetryAfter: &honour, Max: max(6*time.Hour, p.Cooldown.Max)})
	}
	r = r.orElse(p.Cooldown.Rule)
	r.Max = max(r.Max, r.Base) // a base beyond a less specific max, or no max at all: no growth
	return r
}

func (r Rule) orElse(o Rule) Rule {
	if r.On == "" {
		r.On = o.On
	}
	if r.Base == 0 {
		r.Base = o.Base
		if r.Max > 0 {
			r.Base = min(o.Base, r.Max)
		}
	}
	if r.Max == 0 {
		r.Max = o.Max
	}
	if r.Factor == 0 {
		r.Factor = o.Factor
	}
	if r.Jitter == nil {
		r.Jitter = o.Jitter
	}
	if r.DisableAfter == 0 {
		r.DisableAfter = o.DisableAfter
	}
	if r.HonourRetryAfter == nil {
		r.HonourRetryAfter = o.HonourRetryAfter
	}
	return r
}
