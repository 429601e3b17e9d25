package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"proxyward/checks/verdict"
	"proxyward/internal/testenv"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// A pool that cools as a whole: trials are claimed window by window, judged by the policy
// and committed, while the pool's time is moved on.
type recovery struct {
	t      *testing.T
	p      *store.Pool
	move   func(ms int64)
	claim  store.Claim
	policy policy.Policy
	probes int
}

// window runs one window: all trials it allows, each of which passes or fails.
func (r *recovery) window(works bool) {
	r.t.Helper()
	began, last := int64(0), int64(0)
	for {
		g, err := r.p.Claim(r.t.Context(), r.claim)
		if err != nil {
			r.t.Fatal(err)
		}
		if began == 0 {
			began = g.Now
		}
		last = g.Now
		var changes []store.Change
		for _, l := range g.Leases {
			v := verdict.Verdict{Stage: verdict.Connect, Reason: verdict.Refused, Blame: verdict.Proxy}
			if works {
				v = verdict.Verdict{Passed: true}
			}
			next, err := policy.Next(l.Record, policy.Result{Verdict: v, AtMs: g.Now, Dice: 0.5}, r.policy)
			if err != nil {
				r.t.Fatal(err)
			}
			changes = append(changes, store.Change{ID: l.ID, Token: l.Token, Old: l.Raw, Transition: next})
		}
		r.probes += len(changes)
		codes, err := r.p.Commit(r.t.Context(), store.Terms{Lease: r.claim.Lease, Scores: store.Scores{Initial: -1, Keep: true}}, changes)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, code := range codes {
			if code != store.Applied {
				r.t.Fatalf("code %d", code)
			}
		}
		if len(g.Leases) == 0 {
			break
		}
	}
	r.move(r.claim.Window.Milliseconds() + 1 - (last - began))
}

// After an outage of the proxies that all 100,000 sat out, they are back within three
// minutes of the pool's time, and the outage itself cost under one probe in a hundred.
func TestAHundredThousandReturnWithinThreeMinutes(t *testing.T) {
	const n, outage = 100_000, 3 * time.Minute
	url := testenv.Redis(t)
	p, raw := openPool(t, url), testenv.Client(t, url)
	enrollCooling(t, p, n)
	r := &recovery{t: t, p: p, claim: store.Claim{Daemon: "d", Slots: 200, Lease: 25 * time.Second, PerTick: 5, MaxTick: 2000,
		Window: time.Second, Rate: 5000, Alive: 5 * time.Second}, policy: testCheck(t).Policy}
	r.policy.Cooldown.Base = 30 * time.Second
	r.move = func(ms int64) {
		for _, field := range []string{"offset", "high"} {
			if err := raw.HIncrBy(t.Context(), "proxyward:{c}:clock", field, max(ms, 0)).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	began := p.Now()
	for p.Now()-began < outage.Milliseconds() {
		r.window(false)
	}
	if wasted := r.probes; wasted == 0 || wasted > n/100 {
		t.Errorf("%d probes while the outage lasted, want under 1 %% of %d", wasted, n)
	}
	wasted, ended := r.probes, p.Now()
	eligible := func() int64 { return raw.ZCard(t.Context(), "proxyward:{c}:eligible").Val() }
	for eligible() < n && p.Now()-ended < (4*time.Minute).Milliseconds() {
		r.window(true)
	}
	took := time.Duration(p.Now()-ended) * time.Millisecond
	if got := eligible(); got != n || took > 3*time.Minute {
		t.Errorf("%d of %d eligible %v after the outage", got, n, took)
	}
	t.Logf("figures: %d probes in an outage of %v; all %d back %v after it", wasted, outage, n, took.Round(time.Second))
	sound(t, p)
}

// enrollCooling makes n endpoints known that cool, all of them due.
func enrollCooling(t *testing.T, p *store.Pool, n int) {
	t.Helper()
	now, err := p.Time(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var changes []store.Change
	for i := range n {
		rec := record.Record{State: record.Cooling, Sources: []string{"import"}, UntilMs: now, PauseMs: 1000}
		changes = append(changes, store.Change{ID: fmt.Sprintf("http://10.%d.%d.%d:8080", i>>16, i>>8&255, i&255),
			Transition: record.Transition{To: record.Cooling, Next: rec, DueMs: now, DelayMs: 1000}})
	}
	if _, err := p.Amend(context.Background(), changes); err != nil {
		t.Fatal(err)
	}
}
