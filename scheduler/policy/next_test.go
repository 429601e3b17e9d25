package policy

import (
	"strings"
	"testing"
	"time"

	"proxyward/checks/verdict"
	"proxyward/store/record"
)

const now = int64(1_700_000_000_000)

// plain is a policy without jitter, so that every pause is exact.
func plain() Policy {
	return Policy{Rise: 1, Fall: 1, Confirm: 10 * time.Second, Recheck: 5 * time.Minute, Tick: time.Second,
		Cooldown: Cooldown{Rule: Rule{Base: 30 * time.Second, Max: 30 * time.Minute, Factor: 2}}}
}

func failure(class string, blame verdict.Blame) verdict.Verdict {
	stage, reason, _ := strings.Cut(class, ".")
	return verdict.Verdict{Stage: verdict.Stage(stage), Reason: verdict.Reason(reason), Blame: blame, Detail: "what happened"}
}

func status(code int) verdict.Verdict {
	v := failure("verify.http_status", verdict.Target)
	v.Status = code
	return v
}

var (
	pass    = verdict.Verdict{Passed: true, Total: 120 * time.Millisecond}
	refused = failure("connect.refused", verdict.Proxy)
)

// judge is Next at a time in the middle of the dice; it fails the test on an error.
func judge(t *testing.T, rec record.Record, v verdict.Verdict, p Policy, at int64) record.Transition {
	t.Helper()
	tr, err := Next(rec, Result{Verdict: v, AtMs: at, Dice: 0.5, Probe: "this one"}, p)
	if err != nil {
		t.Fatalf("%s with %s: %v", rec.State, v.Class(), err)
	}
	return tr
}

func coolingFor(pause time.Duration) record.Record {
	return record.Record{State: record.Cooling, PauseMs: pause.Milliseconds(), UntilMs: now,
		Classes: map[string]record.Count{"connect.refused": {N: 1, AtMs: now}}}
}

// The table of dispositions, each row on each state.
func TestWhatOneFailureDoes(t *testing.T) {
	var (
		permitted = coolingFor(time.Minute)
		states    = map[string]record.Record{
			"eligible": {State: record.Eligible}, "trial": coolingFor(time.Minute), "permitted": permitted,
			"candidate": {State: record.Candidate}, "disabled": {State: record.Disabled, Holds: []record.Hold{record.Operator}},
		}
	)
	permitted.State, permitted.UntilMs, permitted.Rise = record.Permitted, 0, 1
	states["permitted"] = permitted
	local, target := failure("connect.local_error", verdict.Local), status(503)
	for _, c := range []struct {
		name    string
		on      string
		verdict verdict.Verdict
		back    bool
		to      record.State
		told    record.State // from, as the event tells it; empty: no event
		pause   time.Duration
		due     time.Duration // 0: its place is left alone
		count   int           // of connect.refused afterwards
	}{
		{"our own fault", "eligible", local, true, record.Eligible, "", 0, 6250 * time.Millisecond, 0},
		{"our own fault", "trial", local, true, record.Cooling, "", 0, 6250 * time.Millisecond, 0},
		{"our own fault", "permitted", local, true, record.Permitted, "", 0, 6250 * time.Millisecond, 0},
		{"our own fault", "candidate", local, true, record.Candidate, "", 0, 6250 * time.Millisecond, 0},
		{"our own fault", "disabled", local, true, record.Disabled, "", 0, 6250 * time.Millisecond, 0},

		{"the target's fault", "eligible", target, false, record.Eligible, "", 0, 10 * time.Second, 0},
		{"the target's fault", "trial", target, false, record.Cooling, record.Permitted, time.Minute, time.Minute, 1},
		{"the target's fault", "permitted", target, false, record.Cooling, record.Permitted, time.Minute, time.Minute, 1},
		{"the target's fault", "candidate", target, false, record.Candidate, "", 0, 30 * time.Second, 0},
		{"the target's fault", "disabled", target, false, record.Disabled, "", 0, 0, 0},

		{"the proxy's fault", "eligible", refused, false, record.Cooling, record.Eligible, 30 * time.Second, 30 * time.Second, 1},
		{"the proxy's fault", "trial", refused, false, record.Cooling, record.Permitted, time.Minute, time.Minute, 2},
		{"the proxy's fault", "permitted", refused, false, record.Cooling, record.Permitted, time.Minute, time.Minute, 2},
		{"the proxy's fault", "candidate", refused, false, record.Cooling, record.Candidate, 30 * time.Second, 30 * time.Second, 1},
		{"the proxy's fault", "disabled", refused, false, record.Disabled, "", 0, 0, 0},

		{"a pass", "eligible", pass, false, record.Eligible, "", 0, 5 * time.Minute, 0},
		{"a pass", "trial", pass, false, record.Eligible, record.Permitted, 0, 5 * time.Minute, 0},
		{"a pass", "permitted", pass, false, record.Eligible, record.Permitted, 0, 5 * time.Minute, 0},
		{"a pass", "candidate", pass, false, record.Eligible, record.Candidate, 0, 5 * time.Minute, 0},
		{"a pass", "disabled", pass, false, record.Disabled, "", 0, 0, 0},
	} {
		t.Run(c.name+" on "+c.on, func(t *testing.T) {
			rec := states[c.on]
			got := judge(t, rec, c.verdict, plain(), now)
			if got.GiveBack != c.back || got.From != rec.State || got.To != c.to {
				t.Fatalf("give back %v, %s to %s, want %v, %s to %s", got.GiveBack, got.From, got.To, c.back, rec.State, c.to)
			}
			if got.DelayMs != c.due.Milliseconds() {
				t.Errorf("delay %d ms, want %v", got.DelayMs, c.due)
			}
			if c.back {
				if got.Event != nil || got.DueMs != 0 || got.Next.State != "" {
					t.Errorf("a lease given back writes something: %+v", got)
				}
				return
			}
			if want := now + c.due.Milliseconds(); got.DueMs != want && (c.due != 0 || got.DueMs != 0) {
				t.Errorf("due at %d, want %d", got.DueMs, want)
			}
			n := got.Next
			if n.State != c.to || n.PauseMs != c.pause.Milliseconds() || n.Classes["connect.refused"].N != c.count {
				t.Errorf("state %s pause %d ms count %d, want %s %v %d", n.State, n.PauseMs, n.Classes["connect.refused"].N, c.to, c.pause, c.count)
			}
			if (got.Event == nil) != (c.told == "") || got.Event != nil && (got.Event.From != c.told || got.Event.To != c.to) {
				t.Errorf("event %+v, want one from %q to %q", got.Event, c.told, c.to)
			}
			if n.LastProbeMs != now || c.verdict.Passed && (n.LastOKMs != now || n.LatencyMs != 120) {
				t.Errorf("last probe %d, last pass %d, latency %d", n.LastProbeMs, n.LastOKMs, n.LatencyMs)
			}
			if n.State == record.Cooling && n.UntilMs != now+n.PauseMs || n.State != record.Cooling && n.UntilMs != 0 {
				t.Errorf("%s until %d", n.State, n.UntilMs)
			}
			if c.on != "disabled" && n.Reason != string(c.verdict.Reason) {
				t.Errorf("reason %q, want %q", n.Reason, c.verdict.Reason)
			}
		})
	}
}

func TestTransitionTellsEverything(t *testing.T) {
	got := judge(t, record.Record{State: record.Eligible}, refused, plain(), now)
	want := record.Step{From: record.Eligible, To: record.Cooling, Stage: "connect", Reason: "refused", Blame: "proxy",
		Detail: "what happened", By: record.ByProbe, AtMs: now, PauseMs: 30_000, UntilMs: now + 30_000, Probe: "this one"}
	if *got.Event != want {
		t.Errorf("event %+v, want %+v", *got.Event, want)
	}
	if len(got.Next.History) != 1 || got.Next.History[0] != want {
		t.Errorf("history %+v, want the event", got.Next.History)
	}
	n := got.Next
	if n.SinceMs != now || n.By != record.ByProbe || n.Stage != "connect" || n.Reason != "refused" || n.Blame != "proxy" || n.Detail != "what happened" {
		t.Errorf("record %+v does not say why", n)
	}
}

func TestUnknownStateIsAnError(t *testing.T) {
	for _, v := range []verdict.Verdict{pass, refused, status(503), failure("connect.local_error", verdict.Local)} {
		for _, s := range []record.State{"", "dead"} {
			p := plain()
			p.Rise = 2 // else the edge would be refused, not the state
			if tr, err := Next(record.Record{State: s}, Result{Verdict: v, AtMs: now}, p); err == nil {
				t.Errorf("state %q with %q: %+v, want an error", s, v.Class(), tr)
			}
		}
	}
}

func TestGivenBackLeaseWaitsForTheTick(t *testing.T) {
	local := failure("resolve.local_error", verdict.Local)
	for _, c := range []struct {
		tick time.Duration
		dice float64
		want int64
	}{{time.Second, 0, 5000}, {time.Second, 0.5, 6250}, {20 * time.Second, 0, 20_000}, {20 * time.Second, 0.5, 25_000}} {
		p := plain()
		p.Tick = c.tick
		p.Cooldown.Reasons = map[string]Rule{"local_error": {On: Cool}} // no rule can blame an endpoint for us
		tr, err := Next(record.Record{State: record.Eligible}, Result{Verdict: local, AtMs: now, Dice: c.dice}, p)
		if err != nil || !tr.GiveBack || tr.DelayMs != c.want {
			t.Errorf("tick %v, dice %v: %+v, %v, want a delay of %d ms", c.tick, c.dice, tr, err, c.want)
		}
	}
}

// A story is results in a row: p passes, f is refused, k fails by the target's fault.
// After each the state, rise and fall are compared, and how soon the next probe is due.
func TestRiseAndFall(t *testing.T) {
	type want struct {
		do         byte
		state      record.State
		rise, fall int
		due        time.Duration
	}
	confirm, recheck := 10*time.Second, 5*time.Minute
	for _, c := range []struct {
		name       string
		rise, fall int
		start      record.State
		story      []want
	}{
		{"two passes make a candidate eligible", 2, 1, record.Candidate, []want{
			{'p', record.Candidate, 1, 0, confirm}, {'p', record.Eligible, 0, 0, recheck}}},
		{"a failure between resets the passes of a candidate", 2, 1, record.Candidate, []want{
			{'p', record.Candidate, 1, 0, confirm}, {'f', record.Cooling, 0, 0, 30 * time.Second},
			{'p', record.Permitted, 1, 0, confirm}, {'p', record.Eligible, 0, 0, recheck}}},
		{"the target's fault leaves the passes of a candidate", 2, 1, record.Candidate, []want{
			{'p', record.Candidate, 1, 0, confirm}, {'k', record.Candidate, 1, 0, 30 * time.Second}, {'p', record.Eligible, 0, 0, recheck}}},
		{"three passes end a trial", 3, 1, record.Cooling, []want{
			{'p', record.Permitted, 1, 0, confirm}, {'p', record.Permitted, 2, 0, confirm}, {'p', record.Eligible, 0, 0, recheck}}},
		{"a failure ends a trial at once", 3, 1, record.Cooling, []want{
			{'p', record.Permitted, 1, 0, confirm}, {'p', record.Permitted, 2, 0, confirm}, {'f', record.Cooling, 0, 0, time.Minute},
			{'p', record.Permitted, 1, 0, confirm}}},
		{"the target's fault ends a trial without growth", 2, 1, record.Cooling, []want{
			{'p', record.Permitted, 1, 0, confirm}, {'k', record.Cooling, 0, 0, 30 * time.Second}, {'p', record.Permitted, 1, 0, confirm}}},
		{"three failures eject", 1, 3, record.Eligible, []want{
			{'f', record.Eligible, 0, 1, confirm}, {'f', record.Eligible, 0, 2, confirm}, {'f', record.Cooling, 0, 0, 2 * time.Minute}}},
		{"a pass resets the failures at once", 1, 2, record.Eligible, []want{
			{'f', record.Eligible, 0, 1, confirm}, {'p', record.Eligible, 0, 0, recheck}, {'f', record.Eligible, 0, 1, confirm},
			{'f', record.Cooling, 0, 0, time.Minute}}},
		{"the target's fault leaves the failures", 1, 2, record.Eligible, []want{
			{'f', record.Eligible, 0, 1, confirm}, {'k', record.Eligible, 0, 1, confirm}, {'f', record.Cooling, 0, 0, time.Minute}}},
		{"fall does not spare a trial or a candidate", 1, 3, record.Candidate, []want{
			{'f', record.Cooling, 0, 0, 30 * time.Second}, {'f', record.Cooling, 0, 0, time.Minute}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plain()
			p.Rise, p.Fall = c.rise, c.fall
			rec := record.Record{State: c.start}
			if c.start == record.Cooling {
				rec = coolingFor(30 * time.Second)
			}
			for i, w := range c.story {
				v := map[byte]verdict.Verdict{'p': pass, 'f': refused, 'k': status(503)}[w.do]
				tr := judge(t, rec, v, p, now+int64(i))
				rec = tr.Next
				if rec.State != w.state || tr.To != w.state || rec.Rise != w.rise || rec.Fall != w.fall || tr.DelayMs != w.due.Milliseconds() {
					t.Fatalf("after %d (%c): %s rise %d fall %d due in %d ms, want %s %d %d %v",
						i+1, w.do, rec.State, rec.Rise, rec.Fall, tr.DelayMs, w.state, w.rise, w.fall, w.due)
				}
				if tr.DueMs != now+int64(i)+tr.DelayMs {
					t.Errorf("after %d: due at %d", i+1, tr.DueMs)
				}
			}
		})
	}
}

func TestUndecidedTrialIsWrittenAsPermitted(t *testing.T) {
	p := plain()
	p.Rise = 2
	rec := coolingFor(time.Minute)
	rec.By = record.ByReport
	tr := judge(t, rec, pass, p, now)
	n := tr.Next
	if tr.From != record.Cooling || tr.To != record.Permitted || n.SinceMs != now || n.UntilMs != 0 || n.By != record.ByProbe {
		t.Errorf("%s to %s, since %d until %d by %s", tr.From, tr.To, n.SinceMs, n.UntilMs, n.By)
	}
	if tr.Event != nil {
		t.Errorf("its admission was told when it was claimed, yet again: %+v", tr.Event)
	}
	if n.Classes["connect.refused"].N != 1 {
		t.Error("one pass of two cleared the counts")
	}
	if again := judge(t, n, pass, p, now+1).Next; again.SinceMs != now+1 || len(again.Classes) != 0 {
		t.Errorf("two passes of two: %+v, want no counts", again)
	}
}

// With no wait between probes an endpoint still has a place to wait in.
func TestResultAlwaysGivesAPlaceInALane(t *testing.T) {
	for _, s := range []record.State{record.Candidate, record.Eligible, record.Cooling, record.Permitted} {
		for _, v := range []verdict.Verdict{pass, refused, status(503)} {
			p := Policy{Rise: 2, Fall: 2}
			if tr := judge(t, record.Record{State: s}, v, p, now); tr.DueMs < now {
				t.Errorf("%s with %q: due at %d, which leaves it without a lane", s, v.Class(), tr.DueMs)
			}
		}
	}
}

func TestRechecksAreScattered(t *testing.T) {
	p := plain()
	p.Spread = time.Minute
	for dice, want := range map[float64]int64{0: 270_000, 0.5: 300_000, 0.75: 315_000} {
		tr, err := Next(record.Record{State: record.Eligible}, Result{Verdict: pass, AtMs: now, Dice: dice}, p)
		if err != nil || tr.DelayMs != want {
			t.Errorf("dice %v: due in %d ms, %v, want %d", dice, tr.DelayMs, err, want)
		}
	}
	p.Spread = time.Hour
	if tr, err := Next(record.Record{State: record.Eligible}, Result{Verdict: pass, AtMs: now}, p); err != nil || tr.DueMs != now {
		t.Errorf("a width beyond the interval: %+v, %v, want due now", tr, err)
	}
}

func TestDifferentFailuresStayDifferent(t *testing.T) {
	p := plain()
	p.Cooldown.Reasons = map[string]Rule{
		"proxy_auth.auth_rejected": {Base: time.Hour},        // by stage.reason
		"timeout":                  {Base: 45 * time.Second}, // by reason
		"verify":                   {Base: 5 * time.Minute},  // by stage
	} // and refused by the check's own base
	rec := record.Record{State: record.Eligible}
	pauses := map[string]time.Duration{}
	for i, v := range []verdict.Verdict{refused, failure("proxy_auth.auth_rejected", verdict.Credentials),
		failure("body.timeout", verdict.Unknown), status(403)} {
		rec = judge(t, rec, v, p, now+int64(i)).Next
		if rec.State != record.Cooling {
			t.Fatalf("%s leaves it %s", v.Class(), rec.State)
		}
		pauses[v.Class()] = time.Duration(rec.PauseMs) * time.Millisecond
	}
	want := map[string]time.Duration{"connect.refused": 30 * time.Second, "proxy_auth.auth_rejected": time.Hour,
		"body.timeout": 45 * time.Second, "verify.http_status": 5 * time.Minute}
	for class, pause := range want {
		if pauses[class] != pause || rec.Classes[class].N != 1 {
			t.Errorf("%s: pause %v count %d, want %v 1", class, pauses[class], rec.Classes[class].N, pause)
		}
	}
	if len(rec.Classes) != 4 {
		t.Errorf("classes %v, want four", rec.Classes)
	}
	if rec.Classes["body.timeout"].AtMs != now+2 {
		t.Errorf("the slow body was counted at %d", rec.Classes["body.timeout"].AtMs)
	}
	if n := judge(t, record.Record{State: record.Eligible}, status(503), p, now).Next; n.State != record.Eligible || len(n.Classes) != 0 {
		t.Errorf("a 503 makes it %s with %v", n.State, n.Classes)
	}
}

func TestPauseGrowsByTheClassOwnCount(t *testing.T) {
	rec := record.Record{State: record.Eligible}
	reset := failure("tunnel.reset", verdict.Proxy)
	for i, c := range []struct {
		v     verdict.Verdict
		pause time.Duration
	}{
		{refused, 30 * time.Second}, {refused, time.Minute}, {reset, 30 * time.Second}, {refused, 2 * time.Minute},
		{status(503), 2 * time.Minute}, {reset, time.Minute}, {refused, 4 * time.Minute}, {refused, 8 * time.Minute},
		{refused, 16 * time.Minute}, {refused, 30 * time.Minute}, {refused, 30 * time.Minute}, {pass, 0}, {refused, 30 * time.Second},
	} {
		rec = judge(t, rec, c.v, plain(), now+int64(i)).Next
		if got := time.Duration(rec.PauseMs) * time.Millisecond; got != c.pause {
			t.Fatalf("result %d (%s): pause %v, want %v", i+1, c.v.Class(), got, c.pause)
		}
	}
}

func TestPassClearsCountsAndReason(t *testing.T) {
	p := plain()
	p.Fall = 3
	rec := judge(t, record.Record{State: record.Eligible}, refused, p, now).Next
	if rec.Classes["connect.refused"].N != 1 || rec.Reason != "refused" {
		t.Fatalf("an undecided failure is not remembered: %+v", rec)
	}
	rec = judge(t, rec, pass, p, now).Next
	if len(rec.Classes) != 0 || rec.Stage+rec.Reason+rec.Blame+rec.Detail != "" {
		t.Errorf("a pass leaves %+v", rec)
	}
}

func TestHistoryKeepsTheLastFiveNewestLast(t *testing.T) {
	rec := record.Record{State: record.Candidate}
	for i := range 8 {
		v := pass
		if i%2 == 1 {
			v = refused
		}
		rec = judge(t, rec, v, plain(), now+int64(i)).Next
		if len(rec.History) != min(i+1, 5) {
			t.Fatalf("after %d transitions %d are kept", i+1, len(rec.History))
		}
	}
	for i, s := range rec.History {
		if s.AtMs != now+int64(3+i) {
			t.Errorf("place %d holds the transition of %d, want %d", i, s.AtMs-now, 3+i)
		}
	}
}
