package demo

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"proxyward/checks"
)

// TestEveryPartPlaysWhatItSays probes the cast at two moments of the play.
func TestEveryPartPlaysWhatItSays(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, moment := range []struct {
		at   time.Duration
		want map[string]string // a part's words → the class of its failure; absent: it passes
	}{
		{0, map[string]string{"broken at first, heals soon": "headers.eof"}},
		{5 * time.Second, map[string]string{"breaks, then heals": "tunnel.eof", "target answers 503 at times": "verify.http_status"}},
	} {
		s, err := raise(cast, time.Now().Add(-moment.at))
		if err != nil {
			t.Fatal(err)
		}
		check, err := s.check()
		if err != nil {
			t.Fatal(err)
		}
		for words, class := range map[string]string{
			"our password is wrong": "proxy_auth.auth_rejected", "nobody listens": "connect.refused", "takes calls, says nothing": "tunnel.timeout",
			"hotel login page": "verify.content_mismatch", "asks for a pause": "verify.rate_limited",
		} {
			moment.want[words] = class
		}
		for _, m := range s.members {
			v := check.Transaction.Run(context.Background(), m.endpoint, checks.RunOptions{})
			if want := moment.want[m.plays]; v.Passed != (want == "") || !v.Passed && v.Class() != want {
				t.Errorf("at %v: %q (%s) plays %q %s, want %q", moment.at, m.plays, m.endpoint, v.Class(), v.Detail, want)
			}
		}
		s.Close()
	}
}

func TestTheProxiesLeadToTheTargetOnly(t *testing.T) {
	s, err := raise(cast[:3], time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check, err := checks.Compile(checks.Spec{Name: "elsewhere", Steps: []checks.Step{{Request: checks.Request{URL: "http://" + s.repair + "/", Timeout: 3 * time.Second}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.members {
		if v := check.Run(context.Background(), m.endpoint, checks.RunOptions{}); v.Passed || v.Status == 503 {
			t.Errorf("%s leads elsewhere: %+v", m.endpoint, v)
		}
	}
}

func TestMoodsComeAround(t *testing.T) {
	p := part{phases: []phase{{0, hangUp}, {2 * time.Second, good}}}
	for at, want := range map[time.Duration]mood{0: hangUp, time.Second: hangUp, 2 * time.Second: good, cycle - 1: good, cycle: hangUp, cycle + 3*time.Second: good} {
		if got := p.moodAt(at); got != want {
			t.Errorf("at %v: mood %d, want %d", at, got, want)
		}
	}
}
