package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"proxyward/store"
	"proxyward/store/record"
)

const savedURL = "http://joe:canary-Pa55@10.0.0.9:3128"

// storied is a pool with an endpoint of each kind, workers' allocations among them.
func storied(t *testing.T, at place) *store.Pool {
	t.Helper()
	p := at.pool(t)
	at0 := now(t, p)
	plant(t, p, record.Candidate, at0+10_000, id(0))
	plant(t, p, record.Cooling, at0+60_000, id(2))
	plant(t, p, record.Disabled, 0, id(3))
	plant(t, p, record.Eligible, at0+30_000, id(1), id(4))
	for _, i := range []int{1, 4} {
		amend(t, p, id(i), record.Eligible, at0+30_000+int64(i), func(r *record.Record) { r.LastOKMs, r.LatencyMs = at0-1000, 12 })
	}
	amend(t, p, id(2), record.Cooling, at0+60_000, func(r *record.Record) {
		r.UntilMs, r.PauseMs, r.Allocations, r.Classes = at0+60_000, 90_000, 7, map[string]record.Count{"connect.refused": {N: 2, AtMs: at0}}
		r.History = []record.Step{{To: record.Cooling, By: record.ByProbe, AtMs: at0, Probe: "0a1b2c3d4e5f6071-18"}}
	})
	amend(t, p, id(3), record.Disabled, 0, func(r *record.Record) { r.HoldUntilMs, r.Note = at0+500_000, "mine" })
	rec := record.Record{State: record.Candidate, Sources: []string{"file:l"}}
	applied(t)(p.Amend(t.Context(), []store.Change{{ID: "http://joe@10.0.0.9:3128", URL: savedURL,
		Transition: record.Transition{To: record.Candidate, Next: rec, DueMs: at0 + 5000, DelayMs: 1 << 50}}}))
	at.raw.ZIncrBy(t.Context(), at.key("eligible"), 41, id(1))
	at.raw.ZIncrBy(t.Context(), at.key("eligible"), 40, id(4))
	return p
}

// export is what a pool exports, as it goes through a file, ordered by endpoint.
func export(t testing.TB, p *store.Pool, passwords bool) (all []store.Saved) {
	t.Helper()
	err := p.Scan(context.Background(), func(entries []store.Entry, bad []error) error {
		for _, e := range entries {
			line, err := json.Marshal(e.Save(passwords))
			if err != nil {
				return err
			}
			var s store.Saved
			if err := json.Unmarshal(line, &s); err != nil {
				return err
			}
			if err := s.Check(); err != nil {
				return err
			}
			all = append(all, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b store.Saved) int { return strings.Compare(a.Endpoint, b.Endpoint) })
	return all
}

func restore(t testing.TB, p *store.Pool, how store.Restoring, saved []store.Saved) store.Restored {
	t.Helper()
	sum, err := p.Restore(context.Background(), how, saved)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "},{\"endpoint", "},\n{\"endpoint")
}

func TestAnExportPutsEveryoneBackAsTheyWere(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := storied(t, at)
		saved := export(t, p, true)
		other := at.store(t).Pool("other")
		how := store.Restoring{SavedMs: now(t, p), ProvenMs: 600_000, Exact: true}
		if sum := restore(t, other, how, saved); sum != (store.Restored{Restored: 6}) {
			t.Errorf("restored: %+v", sum)
		}
		sound(t, other)
		if a, b := text(t, saved), text(t, export(t, other, true)); a != b {
			t.Errorf("exported\n%s\nrestored\n%s", a, b)
		}
		if got := look(t, other, "http://joe@10.0.0.9:3128").URL; got != savedURL {
			t.Error("the password is lost")
		}
		if sum := restore(t, other, how, saved); sum != (store.Restored{Kept: 6}) {
			t.Errorf("restored again: %+v", sum)
		}
		for _, s := range export(t, p, false) {
			if s.URL != "" {
				t.Error("a password in an export without passwords")
			}
		}
	})
}

func TestNobodyIsRestoredAsEligibleUnproven(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := storied(t, at)
		saved := export(t, p, true)
		other := at.store(t).Pool("other")
		at.later(t, 0)
		if sum := restore(t, other, store.Restoring{SavedMs: now(t, p), ProvenMs: 500, Exact: true}, saved); sum != (store.Restored{Restored: 6, Unproven: 2}) {
			t.Errorf("restored: %+v", sum)
		}
		sound(t, other)
		for _, i := range []int{1, 4} {
			e := look(t, other, id(i))
			if e.Member || e.Record.State != record.Candidate || e.Record.Allocations < 40 {
				t.Errorf("%d: member %v, %+v", i, e.Member, e.Record)
			}
			if due := e.Lanes[record.CandidateQueue]; due > now(t, other) {
				t.Errorf("%d is probed only in %d ms", i, due-now(t, other))
			}
		}
	})
}

// A pool in use: workers' counts stay fair, a probe under way keeps its lease and is judged
// again on what was restored.
func TestRestoringOverAPoolInUse(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := storied(t, at)
		saved := export(t, p, false)
		how := store.Restoring{SavedMs: now(t, p), ProvenMs: 1 << 40, Overwrite: true}
		at.later(t, time.Hour)
		g := claim(t, p, request(10))
		if len(g.Leases) != 5 { // all but the disabled one
			t.Fatalf("%d leases", len(g.Leases))
		}
		disable(t, p, id(4))
		if sum := restore(t, p, how, saved); sum != (store.Restored{Restored: 6}) {
			t.Errorf("restored: %+v", sum)
		}
		sound(t, p)
		for _, l := range g.Leases {
			if e := look(t, p, l.ID); !e.Leased {
				t.Errorf("%s has lost its lease", l.ID)
			}
		}
		if e := look(t, p, id(4)); !e.Member || e.Score < 40 {
			t.Errorf("it was eligible with 40 allocations: member %v at %d", e.Member, e.Score)
		}
		if got := look(t, p, "http://joe@10.0.0.9:3128").URL; got != savedURL {
			t.Error("an export without passwords took one away")
		}
		for i := range g.Leases { // what is judged on the record of before is told so
			if c := commit(t, p, move(g.Leases[i], g.Leases[i].Record.State, now(t, p), time.Minute)); c[0] == store.Late {
				t.Errorf("%s: late", g.Leases[i].ID)
			}
		}
	})
}

func TestAnExportFromAClockThatWasAhead(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := storied(t, at)
		saved := export(t, p, true)
		const ahead = 3_600_000
		for i := range saved {
			s := &saved[i]
			for _, ms := range []*int64{&s.DueMs, &s.Record.UntilMs, &s.Record.LastOKMs, &s.Record.SinceMs, &s.Record.HoldUntilMs} {
				if *ms > 0 {
					*ms += ahead
				}
			}
		}
		other := at.store(t).Pool("other")
		restore(t, other, store.Restoring{SavedMs: now(t, p) + ahead, ProvenMs: 600_000, Exact: true}, saved)
		sound(t, other)
		if e := look(t, other, id(2)); e.Lanes[record.Recovery] > now(t, other)+61_000 {
			t.Errorf("cooling for %d ms more", e.Lanes[record.Recovery]-now(t, other))
		}
		if e := look(t, other, id(1)); !e.Member || e.Record.LastOKMs > now(t, other) {
			t.Errorf("member %v, passed in the future: %d", e.Member, e.Record.LastOKMs-now(t, other))
		}
	})
}

func TestWhatIsWrongWithALineOfAnExport(t *testing.T) {
	eligible := record.Record{State: record.Eligible}
	for words, s := range map[string]store.Saved{
		"bad endpoint":                {Endpoint: "nonsense", Record: eligible},
		"its name is":                 {Endpoint: "HTTP://10.0.0.1:80", Record: eligible},
		"bad endpoint: its name is h": {Endpoint: savedURL, Record: eligible},
		"bad url":                     {Endpoint: id(1), URL: savedURL, Record: eligible},
		"unknown state":               {Endpoint: id(1), Record: record.Record{State: "fine"}},
		"contains the password": {Endpoint: "http://joe@10.0.0.9:3128", URL: savedURL,
			Record: record.Record{State: record.Cooling, Detail: "no way to " + savedURL}},
		"with holds":       {Endpoint: id(1), Record: record.Record{State: record.Disabled}},
		"-1 is out of":     {Endpoint: id(1), Record: eligible, DueMs: -1},
		"9007199254740992": {Endpoint: id(1), Record: record.Record{State: record.Cooling, Allocations: 1 << 53}},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), words) || strings.Contains(fmt.Sprint(err), "canary") {
			t.Errorf("want %q: %v", words, err)
		}
	}
}
