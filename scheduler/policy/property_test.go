package policy

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"proxyward/checks/verdict"
	"proxyward/store/record"
)

func anyRule() *rapid.Generator[Rule] {
	return rapid.Custom(func(t *rapid.T) Rule {
		return Rule{
			On:               rapid.SampledFrom([]Disposition{"", "", "", Keep, Cool}).Draw(t, "on"),
			Base:             time.Duration(rapid.Int64Range(0, 3600).Draw(t, "base")) * time.Second,
			Max:              time.Duration(rapid.Int64Range(0, 7200).Draw(t, "max")) * time.Second,
			Factor:           rapid.SampledFrom([]float64{0, 1, 1.5, 2, 100}).Draw(t, "factor"),
			Jitter:           rapid.SampledFrom([]*float64{nil, ptr(0.0), ptr(0.2), ptr(1.0)}).Draw(t, "jitter"),
			DisableAfter:     rapid.SampledFrom([]int{-1, 0, 0, 1, 3}).Draw(t, "disable_after"),
			HonourRetryAfter: rapid.SampledFrom([]*bool{nil, ptr(false), ptr(true)}).Draw(t, "honour"),
		}
	})
}

func anyPolicy() *rapid.Generator[Policy] {
	return rapid.Custom(func(t *rapid.T) Policy {
		seconds := rapid.Int64Range(0, 600)
		p := Policy{Rise: rapid.IntRange(1, 3).Draw(t, "rise"), Fall: rapid.IntRange(1, 3).Draw(t, "fall")}
		for _, d := range []*time.Duration{&p.Confirm, &p.Recheck, &p.Spread, &p.Tick} {
			*d = time.Duration(seconds.Draw(t, "seconds")) * time.Second
		}
		p.Cooldown = Cooldown{Rule: anyRule().Draw(t, "rule"), Reasons: map[string]Rule{}}
		for _, key := range []string{"refused", "verify.http_status", "body", "proxy_auth.auth_rejected"} {
			if rapid.Bool().Draw(t, "has "+key) {
				p.Cooldown.Reasons[key] = anyRule().Draw(t, key)
			}
		}
		return p
	})
}

func anyVerdict() *rapid.Generator[verdict.Verdict] {
	return rapid.Custom(func(t *rapid.T) verdict.Verdict {
		v := rapid.SampledFrom([]verdict.Verdict{
			pass, pass, refused, status(503), status(403), failure("body.timeout", verdict.Unknown),
			failure("verify.rate_limited", verdict.Target), failure("proxy_auth.auth_rejected", verdict.Credentials),
			failure("connect.local_error", verdict.Local),
		}).Draw(t, "verdict")
		v.RetryAfter = time.Duration(rapid.SampledFrom([]int64{0, 1, 1 << 20}).Draw(t, "retry after")) * time.Second
		return v
	})
}

// story walks one endpoint through results and actions, and holds every step against
// what must always be true.
type story struct {
	rec    record.Record
	policy Policy
	at     int64
}

func (s *story) take(t *rapid.T, what string, step func(record.Record) (record.Transition, bool, error)) {
	before := s.rec.Clone()
	tr, changed, err := step(s.rec)
	again, changedAgain, errAgain := step(s.rec)
	if !reflect.DeepEqual(s.rec, before) {
		t.Fatalf("%s changed its input from %+v to %+v", what, before, s.rec)
	}
	if !reflect.DeepEqual(tr, again) || changed != changedAgain || (err == nil) != (errAgain == nil) {
		t.Fatalf("%s said two things of one input: %+v and %+v", what, tr, again)
	}
	if err != nil {
		t.Fatalf("%s on %s: %v", what, s.rec.State, err)
	}
	if !changed {
		return
	}
	if tr.From != s.rec.State {
		t.Fatalf("%s: from %q, but the record says %q", what, tr.From, s.rec.State)
	}
	if tr.DueMs != 0 && (tr.DueMs < s.at || tr.DueMs-s.at > tr.DelayMs) {
		t.Fatalf("%s: due %d ms from now, delay %d", what, tr.DueMs-s.at, tr.DelayMs)
	}
	if tr.GiveBack {
		if tr.To != tr.From || tr.Event != nil || tr.DelayMs < 5000 {
			t.Fatalf("%s gives back, yet %+v", what, tr)
		}
		return
	}
	s.checkStep(t, what, tr)
	s.checkRecord(t, what, tr.Next)
	s.rec = tr.Next
}

func (s *story) checkStep(t *rapid.T, what string, tr record.Transition) {
	e := tr.Event
	if tr.To != tr.Next.State {
		t.Fatalf("%s: to %q, but the record says %q", what, tr.To, tr.Next.State)
	}
	if tr.From != tr.To && checkEdge(tr.From, tr.To) != nil && !(tr.From == record.Cooling && tr.To == record.Eligible) {
		t.Fatalf("%s: %q to %q is no edge", what, tr.From, tr.To)
	}
	if e == nil {
		if tr.From != tr.To && tr.To != record.Permitted {
			t.Fatalf("%s: nobody hears of %q to %q", what, tr.From, tr.To)
		}
		return
	}
	if err := checkEdge(e.From, e.To); err != nil || e.To != tr.To || e.AtMs != s.at {
		t.Fatalf("%s: event %+v: %v", what, e, err)
	}
	if h := tr.Next.History; h[len(h)-1] != *e {
		t.Fatalf("%s: the newest of the history is %+v, not %+v", what, h[len(h)-1], e)
	}
}

func (s *story) checkRecord(t *rapid.T, what string, n record.Record) {
	back, err := record.Decode(n.Encode())
	switch {
	case (n.State == record.Disabled) != (len(n.Holds) > 0):
		t.Fatalf("%s: %s with holds %v", what, n.State, n.Holds)
	case len(n.History) > record.HistoryLength:
		t.Fatalf("%s: %d transitions kept", what, len(n.History))
	case n.State == record.Cooling && (n.UntilMs <= n.SinceMs || n.UntilMs != n.SinceMs+n.PauseMs):
		t.Fatalf("%s: cooling since %d for %d until %d", what, n.SinceMs, n.PauseMs, n.UntilMs)
	case n.State != record.Cooling && n.UntilMs != 0:
		t.Fatalf("%s: %s until %d", what, n.State, n.UntilMs)
	case n.Rise >= s.policy.Rise || n.Fall >= s.policy.Fall:
		t.Fatalf("%s: rise %d of %d, fall %d of %d is decided, yet recorded", what, n.Rise, s.policy.Rise, n.Fall, s.policy.Fall)
	case n.Fall > 0 && n.State != record.Eligible || n.Rise > 0 && n.State != record.Candidate && n.State != record.Permitted:
		t.Fatalf("%s: %s with rise %d, fall %d", what, n.State, n.Rise, n.Fall)
	case slices.Contains(n.Holds, record.Retired) != (len(n.Sources) == 0):
		t.Fatalf("%s: sources %v, holds %v", what, n.Sources, n.Holds)
	case err != nil || back.Encode() != n.Encode():
		t.Fatalf("%s: written %s, read back %s, %v", what, n.Encode(), back.Encode(), err)
	}
}

func (s *story) result(t *rapid.T) {
	r := Result{Verdict: anyVerdict().Draw(t, "result"), AtMs: s.at, Dice: rapid.Float64Range(0, 0.999).Draw(t, "dice")}
	wasDisabled := s.rec.State == record.Disabled
	s.take(t, "result "+r.Class(), func(rec record.Record) (record.Transition, bool, error) {
		tr, err := Next(rec, r, s.policy)
		if err == nil && !tr.GiveBack && (tr.DueMs == 0) != (tr.To == record.Disabled) {
			t.Fatalf("%s: %s, due at %d", r.Class(), tr.To, tr.DueMs)
		}
		if wasDisabled && tr.To != record.Disabled {
			t.Fatalf("%s took a disabled one to %s", r.Class(), tr.To)
		}
		return tr, true, err
	})
}

func TestNoStoryBreaksTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &story{policy: anyPolicy().Draw(t, "policy"), at: now}
		name := rapid.SampledFrom([]string{"a", "b"})
		s.take(t, "enroll", func(record.Record) (record.Transition, bool, error) {
			tr, err := Enroll(Listed{Source: "a"}, At{s.at, record.BySource})
			return tr, true, err
		})
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { s.at += rapid.Int64Range(0, 10_000_000).Draw(t, "later") },
			// Most of what happens are results.
			"result": s.result, "result 2": s.result, "result 3": s.result,
			"relist": func(t *rapid.T) {
				l := Listed{Source: name.Draw(t, "source"), URLChanged: rapid.Bool().Draw(t, "changed"), Delay: time.Second}
				held := slices.Contains(s.rec.Holds, record.Operator)
				s.take(t, "relist", func(rec record.Record) (record.Transition, bool, error) {
					return Relist(rec, l, At{s.at, record.BySource})
				})
				if held && !slices.Contains(s.rec.Holds, record.Operator) {
					t.Fatal("a list lifted the operator's hold")
				}
			},
			"unlist": func(t *rapid.T) {
				gone := name.Draw(t, "source")
				s.take(t, "unlist", func(rec record.Record) (record.Transition, bool, error) {
					return Unlist(rec, gone, false, At{s.at, record.BySource})
				})
			},
			"disable": func(t *rapid.T) {
				until := rapid.SampledFrom([]int64{0, s.at + 1}).Draw(t, "until")
				s.take(t, "disable", func(rec record.Record) (record.Transition, bool, error) {
					tr, err := Disable(rec, "why", until, At{s.at, record.ByOperator})
					return tr, true, err
				})
			},
			"enable": func(t *rapid.T) {
				s.take(t, "enable", func(rec record.Record) (record.Transition, bool, error) {
					return Enable(rec, 0, At{s.at, record.ByOperator})
				})
			},
			"expire": func(t *rapid.T) {
				s.take(t, "expire", func(rec record.Record) (record.Transition, bool, error) {
					return Expire(rec, 0, At{s.at, record.ByOperator})
				})
			},
		})
	})
}
