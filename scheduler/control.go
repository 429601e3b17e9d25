package scheduler

import (
	"context"
	"sync"
	"time"

	"proxyward/checks"
	"proxyward/checks/direct"
	"proxyward/checks/verdict"
)

// control asks the target directly now and then, where the operator allows it, to settle
// whose fault a fault of the target's TLS or HTTP is.
type control struct {
	check *checks.Check

	mu   sync.Mutex
	at   time.Time // when it was last asked
	said verdict.Verdict
}

const (
	controlAge  = 30 * time.Second // how long one answer of the target counts
	controlTime = leaseMargin / 2  // it is waited for under a live lease; a target that is slower settles nothing
)

// ask is what the target says directly, not older than controlAge.
func (c *control) ask(ctx context.Context) verdict.Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() || time.Since(c.at) > controlAge {
		ctx, cancel := context.WithTimeout(ctx, controlTime)
		defer cancel()
		c.said, c.at = direct.Run(ctx, c.check), time.Now()
	}
	return c.said
}

// disputable: both the target and the proxy can have caused it, and a direct answer tells.
// What is true of one pair of proxy and target only (429, a 403, another page) is left.
func disputable(v verdict.Verdict) bool {
	switch {
	case v.Passed, v.Blame == verdict.Local, v.Blame == verdict.Credentials, v.Status == 403, v.Status == 429:
		return false
	case v.Stage == verdict.TargetTLS, v.Stage == verdict.Body:
		return true
	case v.Stage == verdict.Headers:
		return v.Blame != verdict.Proxy
	}
	return v.Reason == verdict.HTTPStatus
}

// settle blames the proxy for what the target does not do when it is asked directly, and
// the target for what it does then too.
func settle(v, said verdict.Verdict) verdict.Verdict {
	switch {
	case said.Passed:
		v.Blame = verdict.Proxy
	case said.Class() == v.Class() && said.Status == v.Status:
		v.Blame = verdict.Target
	}
	return v
}
