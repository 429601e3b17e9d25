package policy

import (
	"testing"
	"time"

	"proxyward/checks/verdict"
	"proxyward/store/record"
)

func TestWhileTheGuardIsOpenNobodyIsEjectedAndNoPauseGrows(t *testing.T) {
	p := Policy{Rise: 1, Fall: 1, Confirm: 10 * time.Second, Recheck: time.Minute, Guarded: true,
		Cooldown: Cooldown{Rule: Rule{Base: time.Minute, Max: time.Hour, Factor: 2}}}
	refused := Result{Verdict: verdict.Verdict{Stage: verdict.Connect, Reason: verdict.Refused, Blame: verdict.Proxy}, AtMs: 1_000_000}
	tr, err := Next(record.Record{State: record.Eligible}, refused, p)
	if err != nil || tr.To != record.Eligible || len(tr.Next.Classes) != 0 || tr.DelayMs != 10_000 {
		t.Errorf("%+v %v", tr, err)
	}
	cooling := record.Record{State: record.Cooling, PauseMs: 60_000, Classes: map[string]record.Count{"connect.refused": {N: 3}}}
	tr, err = Next(cooling, refused, p)
	if err != nil || tr.To != record.Cooling || tr.Next.PauseMs != 60_000 || tr.Next.Classes["connect.refused"].N != 3 {
		t.Errorf("%+v %v", tr, err)
	}
}

func TestTheGuardPutsBackWhomTheOutageEjected(t *testing.T) {
	p := Policy{Rise: 1, Fall: 1, Confirm: 10 * time.Second, Recheck: time.Minute,
		Cooldown: Cooldown{Rule: Rule{Base: time.Minute, Max: time.Hour, Factor: 2}}}
	silent := Result{Verdict: verdict.Verdict{Stage: verdict.Tunnel, Reason: verdict.Timeout, Blame: verdict.Proxy}, AtMs: 1_000_000}
	before := record.Record{State: record.Eligible, Classes: map[string]record.Count{"connect.refused": {N: 2, AtMs: 5}}}
	out, err := Next(before, silent, p)
	if err != nil || out.To != record.Cooling {
		t.Fatal(out, err)
	}
	out.Next.Allocations = 41 // as the store appends it
	at := At{Ms: 1_002_000, By: record.ByGuard}
	if _, write, _ := Restore(out.Next, 1_000_001, p, at); write {
		t.Error("put back whom an earlier failure ejected")
	}
	back, write, err := Restore(out.Next, 999_000, p, at)
	if err != nil || !write || back.To != record.Eligible || back.Next.UntilMs != 0 || back.Event.By != record.ByGuard {
		t.Fatalf("%+v %v %v", back, write, err)
	}
	if c := back.Next.Classes; len(c) != 1 || c["connect.refused"].N != 2 {
		t.Errorf("counts after the undo: %v", c)
	}
	if _, write, _ := Restore(record.Record{State: record.Disabled}, 0, p, at); write {
		t.Error("put back a disabled endpoint")
	}
}

func TestWhatNobodyIsToBlameForDisablesNobody(t *testing.T) {
	p := Policy{Rise: 1, Fall: 1, Confirm: time.Second, Recheck: time.Minute, Cooldown: Cooldown{Rule: Rule{Base: time.Minute, Max: time.Hour, Factor: 1},
		Reasons: map[string]Rule{"headers.timeout": {DisableAfter: 1}}}}
	for blame, want := range map[verdict.Blame]record.State{verdict.Unknown: record.Cooling, verdict.Proxy: record.Disabled} {
		silent := Result{Verdict: verdict.Verdict{Stage: verdict.Headers, Reason: verdict.Timeout, Blame: blame}, AtMs: 1_000_000}
		tr, err := Next(record.Record{State: record.Eligible}, silent, p)
		if err != nil || tr.To != want {
			t.Errorf("blame %s: %s %v", blame, tr.To, err)
		}
	}
}
