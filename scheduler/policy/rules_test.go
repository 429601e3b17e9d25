package policy

import (
	"testing"
	"time"

	"proxyward/checks/verdict"
	"proxyward/store/record"
)

func ptr[T any](v T) *T { return &v }

func TestMostSpecificRuleWins(t *testing.T) {
	class, reason, stage := Rule{Base: 1 * time.Minute}, Rule{Base: 2 * time.Minute}, Rule{Base: 3 * time.Minute}
	for _, c := range []struct {
		name  string
		rules map[string]Rule
		v     verdict.Verdict
		base  time.Duration
	}{
		{"stage.reason before all", map[string]Rule{"tunnel.reset": class, "reset": reason, "tunnel": stage}, failure("tunnel.reset", verdict.Proxy), time.Minute},
		{"reason before stage", map[string]Rule{"reset": reason, "tunnel": stage}, failure("tunnel.reset", verdict.Proxy), 2 * time.Minute},
		{"stage before the base", map[string]Rule{"tunnel": stage}, failure("tunnel.reset", verdict.Proxy), 3 * time.Minute},
		{"the base where no rule fits", map[string]Rule{"connect.reset": class, "refused": reason, "body": stage}, failure("tunnel.reset", verdict.Proxy), 30 * time.Second},
		{"stage before what is built in", map[string]Rule{"tunnel": stage}, failure("tunnel.forbidden", verdict.Proxy), 3 * time.Minute},
		{"what is built in before the base", nil, failure("tunnel.forbidden", verdict.Proxy), 10 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plain()
			p.Cooldown.Reasons = c.rules
			if got := p.rule(c.v).Base; got != c.base {
				t.Errorf("base %v, want %v", got, c.base)
			}
		})
	}
}

func TestEachFieldIsTakenFromTheMostSpecificRuleThatHasIt(t *testing.T) {
	p := plain()
	p.Cooldown.Jitter = ptr(0.2)
	p.Cooldown.DisableAfter = 9
	p.Cooldown.Reasons = map[string]Rule{
		"tunnel.reset": {On: Keep, DisableAfter: -1},
		"reset":        {On: Cool, Base: time.Minute, Jitter: ptr(0.0)},
		"tunnel":       {Base: time.Hour, Factor: 3, HonourRetryAfter: ptr(true)},
	}
	r := p.rule(failure("tunnel.reset", verdict.Proxy))
	if r.On != Keep || r.Base != time.Minute || r.Max != 30*time.Minute || r.Factor != 3 || *r.Jitter != 0 || r.DisableAfter != -1 || !*r.HonourRetryAfter {
		t.Errorf("merged to %+v, jitter %v", r, *r.Jitter)
	}
	if r := p.rule(failure("tunnel.eof", verdict.Proxy)); r.On != "" || r.Base != time.Hour || *r.Jitter != 0.2 || r.DisableAfter != 9 {
		t.Errorf("another class merged to %+v, jitter %v", r, *r.Jitter)
	}
}

func TestBaseAndMaxOfDifferentRules(t *testing.T) {
	for _, c := range []struct {
		name      string
		rule      Rule
		v         verdict.Verdict
		base, max time.Duration
	}{
		{"a base beyond the check's max", Rule{Base: time.Hour}, refused, time.Hour, time.Hour},
		{"a max below the check's base", Rule{Max: 10 * time.Second}, refused, 10 * time.Second, 10 * time.Second},
		{"a max below the built-in base", Rule{Max: 5 * time.Minute}, failure("tunnel.forbidden", verdict.Proxy), 5 * time.Minute, 5 * time.Minute},
		{"a base beyond the built-in max", Rule{Base: 48 * time.Hour}, failure("tunnel.forbidden", verdict.Proxy), 48 * time.Hour, 48 * time.Hour},
		{"both", Rule{Base: time.Minute, Max: 2 * time.Minute}, failure("tunnel.forbidden", verdict.Proxy), time.Minute, 2 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plain()
			p.Cooldown.Reasons = map[string]Rule{string(c.v.Reason): c.rule}
			if r := p.rule(c.v); r.Base != c.base || r.Max != c.max {
				t.Errorf("base %v max %v, want %v %v", r.Base, r.Max, c.base, c.max)
			}
		})
	}
}

func TestClassesThatHardlyHealPauseLong(t *testing.T) {
	for _, c := range []struct {
		v    verdict.Verdict
		long bool
	}{
		{failure("proxy_auth.auth_required", verdict.Credentials), true},
		{failure("proxy_auth.auth_rejected", verdict.Credentials), true},
		{failure("proxy_auth.auth_scheme_unsupported", verdict.Credentials), true},
		{failure("proxy_auth.auth_rejected", verdict.Unknown), true},
		{failure("tunnel.eof", verdict.Credentials), true},
		{failure("tunnel.protocol_mismatch", verdict.Proxy), true},
		{failure("tunnel.method_unsupported", verdict.Proxy), true},
		{failure("tunnel.forbidden", verdict.Proxy), true},
		{failure("proxy_tls.cert_untrusted", verdict.Proxy), true},
		{failure("target_tls.cert_untrusted", verdict.Proxy), true},
		{failure("proxy_auth.timeout", verdict.Proxy), false},
		{failure("proxy_auth.reset", verdict.Unknown), false},
		{failure("proxy_tls.cert_expired", verdict.Proxy), false},
		{refused, false},
	} {
		want := [2]time.Duration{30 * time.Second, 30 * time.Minute}
		if c.long {
			want = [2]time.Duration{10 * time.Minute, 24 * time.Hour}
		}
		if r := plain().rule(c.v); r.Base != want[0] || r.Max != want[1] {
			t.Errorf("%s by %s: base %v max %v, want %v", c.v.Class(), c.v.Blame, r.Base, r.Max, want)
		}
	}
	p := plain()
	p.Cooldown.Base, p.Cooldown.Max = time.Hour, 72*time.Hour
	if r := p.rule(failure("tunnel.forbidden", verdict.Proxy)); r.Base != time.Hour || r.Max != 72*time.Hour {
		t.Errorf("beside a longer base of the check: base %v max %v", r.Base, r.Max)
	}
}

func TestDisposition(t *testing.T) {
	keep := func(key string) map[string]Rule { return map[string]Rule{key: {On: Keep}} }
	cool := func(key string) map[string]Rule { return map[string]Rule{key: {On: Cool}} }
	for _, c := range []struct {
		name  string
		rules map[string]Rule
		v     verdict.Verdict
		want  Disposition
	}{
		{"the proxy's fault", nil, refused, Cool},
		{"credentials", nil, failure("proxy_auth.auth_rejected", verdict.Credentials), Cool},
		{"nobody knows whose", nil, failure("body.timeout", verdict.Unknown), Cool},
		{"no blame at all", nil, failure("body.timeout", ""), Cool},
		{"our own", nil, failure("connect.local_error", verdict.Local), GiveBack},
		{"a 503 of the target", nil, status(503), Keep},
		{"a 404 of the target", nil, status(404), Keep},
		{"a 403 of the target", nil, status(403), Cool},
		{"a 429", nil, failure("verify.rate_limited", verdict.Target), Cool},
		{"content of the target", nil, failure("verify.content_mismatch", verdict.Target), Cool},
		{"a reset by the target", nil, failure("headers.reset", verdict.Target), Keep},
		{"a rule that keeps wins over the exception of 403", keep("verify.http_status"), status(403), Keep},
		{"a rule of a stage too", keep("verify"), status(403), Keep},
		{"a rule that keeps wins over the blame", keep("refused"), refused, Keep},
		{"a rule that cools wins over the blame", cool("http_status"), status(503), Cool},
		{"no rule changes what is our own", cool("local_error"), failure("connect.local_error", verdict.Local), GiveBack},
		{"the more specific rule decides", map[string]Rule{"verify": {On: Keep}, "verify.http_status": {On: Cool}}, status(503), Cool},
		{"a rule without a word decides nothing", map[string]Rule{"http_status": {Base: time.Hour}}, status(503), Keep},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plain()
			p.Cooldown.Reasons = c.rules
			if got := p.Disposition(c.v); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestRuleThatKeepsSparesAnEligibleOne(t *testing.T) {
	p := plain()
	p.Cooldown.Reasons = map[string]Rule{"verify.http_status": {On: Keep}}
	if n := judge(t, record.Record{State: record.Eligible}, status(403), p, now).Next; n.State != record.Eligible || len(n.Classes) != 0 {
		t.Errorf("%s with %v", n.State, n.Classes)
	}
}

func TestRetryAfter(t *testing.T) {
	limited := failure("verify.rate_limited", verdict.Target)
	unavailable := failure("tunnel.http_status", verdict.Proxy)
	for _, c := range []struct {
		name  string
		v     verdict.Verdict
		asked time.Duration
		rule  Rule
		pause time.Duration
	}{
		{"nothing asked for", limited, 0, Rule{}, 30 * time.Second},
		{"less than the pause", limited, 10 * time.Second, Rule{}, 30 * time.Second},
		{"more than the pause", limited, 2 * time.Hour, Rule{}, 2 * time.Hour},
		{"more than the built-in max", limited, 100 * time.Hour, Rule{}, 6 * time.Hour},
		{"more than the rule's max", limited, 2 * time.Hour, Rule{Max: 10 * time.Minute}, 10 * time.Minute},
		{"not to be honoured", limited, 2 * time.Hour, Rule{HonourRetryAfter: ptr(false)}, 30 * time.Second},
		{"another failure", unavailable, 2 * time.Hour, Rule{}, 30 * time.Second},
		{"another failure whose rule honours it", unavailable, 20 * time.Minute, Rule{HonourRetryAfter: ptr(true)}, 20 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plain()
			p.Cooldown.Reasons = map[string]Rule{string(c.v.Reason): c.rule}
			c.v.RetryAfter = c.asked
			n := judge(t, record.Record{State: record.Eligible}, c.v, p, now).Next
			if got := time.Duration(n.PauseMs) * time.Millisecond; n.State != record.Cooling || got != c.pause {
				t.Errorf("%s for %v, want cooling for %v", n.State, got, c.pause)
			}
		})
	}
}

func TestJitterOfPauses(t *testing.T) {
	rule := Rule{Base: 100 * time.Second, Max: 1000 * time.Second, Factor: 2, Jitter: ptr(0.2), HonourRetryAfter: ptr(true)}
	for _, c := range []struct {
		name            string
		n               int
		asked           time.Duration
		low, mid, high  float64 // seconds at dice 0, 0.5 and 0.999
		lowest, highest float64
	}{
		{"first", 1, 0, 80, 100, 119.96, 80, 120},
		{"second", 2, 0, 160, 200, 239.92, 160, 240},
		{"at the cap", 20, 0, 1000, 900, 800.2, 800, 1000},
		{"at the cap although the power overflows", 1 << 40, 0, 1000, 900, 800.2, 800, 1000},
		{"asked for", 1, 500 * time.Second, 500, 550, 599.9, 500, 600},
		{"asked for at the cap", 1, 5000 * time.Second, 1000, 1000, 1000, 1000, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			for dice, want := range map[float64]float64{0: c.low, 0.5: c.mid, 0.999: c.high} {
				if got := rule.pause(c.n, c.asked, dice).Seconds(); got < want-0.001 || got > want+0.001 {
					t.Errorf("dice %v: %v s, want %v", dice, got, want)
				}
			}
			for i := range 1000 {
				if got := rule.pause(c.n, c.asked, float64(i)/1000).Seconds(); got < c.lowest || got > c.highest {
					t.Errorf("dice %v: %v s is not within %v and %v", float64(i)/1000, got, c.lowest, c.highest)
				}
			}
		})
	}
}

func TestPauseJustBelowTheCapStaysUnderIt(t *testing.T) {
	rule := Rule{Base: 95 * time.Second, Max: 100 * time.Second, Jitter: ptr(0.2)}
	atCap := 0
	for i := range 1000 {
		got := rule.pause(1, 0, float64(i)/1000)
		if got > rule.Max || got < 76*time.Second {
			t.Errorf("dice %v: %v", float64(i)/1000, got)
		}
		if got == rule.Max {
			atCap++
		}
	}
	if atCap > 1 {
		t.Errorf("%d of 1000 end at the very cap together", atCap)
	}
}

func TestPauseOfOddRules(t *testing.T) {
	for _, c := range []struct {
		name string
		rule Rule
		n    int
		want time.Duration
	}{
		{"no rule", Rule{}, 5, 0},
		{"no base, for ever", Rule{Max: time.Hour, Factor: 10}, 1 << 40, time.Hour},
		{"a factor below 1 does not shrink", Rule{Base: time.Minute, Max: time.Hour, Factor: 0.5}, 4, time.Minute},
		{"no factor does not grow", Rule{Base: time.Minute, Max: time.Hour}, 4, time.Minute},
		{"whole jitter beyond the power", Rule{Base: time.Minute, Max: time.Hour, Factor: 10, Jitter: ptr(1.0)}, 1 << 40, time.Hour},
	} {
		if got := c.rule.pause(c.n, 0, 0); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestDisableAfter(t *testing.T) {
	p := plain()
	p.Cooldown.Reasons = map[string]Rule{"refused": {DisableAfter: 3}}
	rec := record.Record{State: record.Eligible}
	for i, want := range []record.State{record.Cooling, record.Cooling, record.Disabled} {
		if i == 2 { // another class does not count
			rec = judge(t, rec, failure("tunnel.reset", verdict.Proxy), p, now).Next
		}
		tr := judge(t, rec, refused, p, now+int64(i))
		if rec = tr.Next; rec.State != want || tr.To != want {
			t.Fatalf("after %d: %s, want %s", i+1, rec.State, want)
		}
		if want == record.Disabled {
			e := tr.Event
			if e == nil || e.From != record.Permitted || e.To != record.Disabled || e.Reason != "refused" || e.By != record.ByProbe {
				t.Errorf("event %+v", e)
			}
			if tr.DueMs != 0 || rec.PauseMs != 0 || rec.UntilMs != 0 || rec.Reason != "refused" {
				t.Errorf("due %d, record %+v", tr.DueMs, rec)
			}
		}
	}
	if len(rec.Holds) != 1 || rec.Holds[0] != record.Policy || rec.Classes["connect.refused"].N != 3 {
		t.Errorf("holds %v, classes %v", rec.Holds, rec.Classes)
	}
}

func TestDisableAfterComesBeforeFall(t *testing.T) {
	p := plain()
	p.Fall = 5
	p.Cooldown.Reasons = map[string]Rule{"refused": {DisableAfter: 1}}
	if n := judge(t, record.Record{State: record.Eligible}, refused, p, now).Next; n.State != record.Disabled || n.Fall != 0 {
		t.Errorf("%s with fall %d", n.State, n.Fall)
	}
}
