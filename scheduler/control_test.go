package scheduler

import (
	"testing"

	"proxyward/checks/verdict"
)

func TestTheTargetsOwnWordSettlesTheBlame(t *testing.T) {
	fault := func(stage verdict.Stage, reason verdict.Reason, blame verdict.Blame, status int) verdict.Verdict {
		return verdict.Verdict{Stage: stage, Reason: reason, Blame: blame, Status: status}
	}
	well := verdict.Verdict{Passed: true, Status: 200}
	expired := fault(verdict.TargetTLS, verdict.CertExpired, verdict.Target, 0)
	broken := fault(verdict.Verify, verdict.HTTPStatus, verdict.Target, 500)
	for _, c := range []struct {
		what    string
		v, said verdict.Verdict
		want    verdict.Blame
	}{
		{"a certificate that is expired directly too", fault(verdict.TargetTLS, verdict.CertExpired, verdict.Proxy, 0), expired, verdict.Target},
		{"an untrusted certificate, well directly", fault(verdict.TargetTLS, verdict.CertUntrusted, verdict.Proxy, 0), well, verdict.Proxy},
		{"an expired one, well directly", expired, well, verdict.Proxy},
		{"a 500 directly too", broken, broken, verdict.Target},
		{"a 500, well directly", broken, well, verdict.Proxy},
		{"a 502 of unknown origin, well directly", fault(verdict.Verify, verdict.HTTPStatus, verdict.Unknown, 502), well, verdict.Proxy},
		{"a cut body, well directly", fault(verdict.Body, verdict.Truncated, verdict.Target, 200), well, verdict.Proxy},
		{"a 500, another fault directly", broken, expired, verdict.Target},
		{"a 403 is true of the pair", fault(verdict.Verify, verdict.HTTPStatus, verdict.Target, 403), well, verdict.Target},
		{"a refused proxy is not asked about", fault(verdict.Connect, verdict.Refused, verdict.Proxy, 0), expired, verdict.Proxy},
		{"our own fault stays ours", fault(verdict.TargetTLS, verdict.LocalError, verdict.Local, 0), well, verdict.Local},
	} {
		got := c.v
		if disputable(c.v) {
			got = settle(c.v, c.said)
		}
		if got.Blame != c.want {
			t.Errorf("%s: blame %s, want %s", c.what, got.Blame, c.want)
		}
	}
}
