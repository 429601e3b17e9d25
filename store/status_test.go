package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

func TestStatusSaysHowThePoolStands(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		far := now(t, p) + 3600_000
		plant(t, p, record.Candidate, 1, id(0))
		plant(t, p, record.Candidate, far, ids(1, 3)...)
		plant(t, p, record.Eligible, far, ids(3, 6)...)
		plant(t, p, record.Cooling, 1, ids(6, 9)...)
		plant(t, p, record.Disabled, 0, id(9))
		if _, err := p.Recheck(t.Context(), 0, []string{id(3)}); err != nil {
			t.Fatal(err)
		}
		r := request(9)
		r.PerTick = 2
		g := claim(t, p, r) // the urgent one, two trials, the candidate
		l := g.Leases[slices.IndexFunc(g.Leases, func(l store.Lease) bool { return l.ID == id(0) })]
		applied(t)(commit(t, p, move(l, record.Cooling, far, 0)), nil)
		s, err := p.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		states := map[record.State]int64{record.Candidate: 2, record.Eligible: 3, record.Cooling: 4, record.Disabled: 1}
		lanes := map[record.Lane]store.Queue{record.Urgent: {}, record.Recovery: {Waiting: 2, Due: 1, NextMs: s.Lanes[record.Recovery].NextMs},
			record.Recheck: {Waiting: 2, NextMs: far}, record.CandidateQueue: {Waiting: 2, NextMs: far}}
		if !maps.Equal(s.States, states) || !maps.Equal(s.Lanes, lanes) {
			t.Errorf("states %v, want %v; lanes %v, want %v", s.States, states, s.Lanes, lanes)
		}
		if next := s.Lanes[record.Recovery].NextMs; next == 0 || next > s.Now {
			t.Errorf("the first of the recovery lane is due at %d, now is %d", next, s.Now)
		}
		if s.Leases != 3 || s.Trials != 2 || s.Admitted != 2 || s.LastCommitMs < g.Now || s.LastCommitMs > s.Now || s.Daemons["d"] != g.Now || len(s.Daemons) != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestStatusOfAPoolThatIsNot(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		s, err := at.pool(t).Status(t.Context())
		if err != nil || len(s.States) != 0 || len(s.Daemons) != 0 || s.Lanes[record.Urgent] != (store.Queue{}) || s.Now == 0 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func TestEventsTellEachTransition(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		enrolled := record.Record{State: record.Candidate}
		applied(t)(p.Amend(t.Context(), []store.Change{{ID: id(0), Transition: record.Transition{To: record.Candidate, Next: enrolled, DueMs: 1, DelayMs: 1,
			Event: &record.Step{To: record.Candidate, By: record.BySource}}}}))
		l := one(t, p)
		c := move(l, record.Cooling, 1, 0)
		applied(t)(commit(t, p, c), nil)
		trial := one(t, p)
		quiet := move(trial, record.Cooling, now(t, p), time.Hour)
		quiet.Transition.Event = nil
		applied(t)(commit(t, p, quiet), nil)

		events, last, err := p.Events(t.Context(), "0", 100)
		if err != nil || len(events) != 3 {
			t.Fatal(events, err)
		}
		nonce := func(l store.Lease) string { // after LANE.SCORE., and without the cohort of a trial
			word, _, _ := strings.Cut(l.Token[len(string(l.Lane))+1+13+1:], "~")
			return word
		}
		want := []map[string]string{
			{"endpoint": id(0), "from": "new", "to": "candidate", "stage": "", "reason": "", "blame": "", "by": "source", "pause_ms": "0", "detail": "", "probe": ""},
			{"endpoint": id(0), "from": "candidate", "to": "cooling", "stage": "connect", "reason": "refused", "blame": "proxy", "by": "probe",
				"pause_ms": "7", "detail": "nobody listens", "probe": nonce(l)},
			{"endpoint": id(0), "from": "cooling", "to": "permitted", "by": "probe", "probe": trial.Probe()},
		}
		for i, e := range events {
			if e["at_ms"] < fmt.Sprint(now(t, p)-60_000) {
				t.Errorf("event %d at %s", i, e["at_ms"])
			}
			delete(e, "at_ms")
			if !maps.Equal(e, want[i]) {
				t.Errorf("event %d: %v\nwant     %v", i, e, want[i])
			}
		}
		if more, again, err := p.Events(t.Context(), last, 100); err != nil || len(more) != 0 || again != last {
			t.Error(more, again, err)
		}
		if first, _, err := p.Events(t.Context(), "0", 1); err != nil || len(first) != 1 || first[0]["from"] != "new" {
			t.Error(first, err)
		}
	})
}

func TestEventsAreCapped(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1<<45, id(0))
		pipe := at.raw.Pipeline()
		for range 11_000 {
			pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: at.key("events"), Values: []string{"endpoint", "before"}})
		}
		if _, err := pipe.Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		l := look(t, p, id(0))
		applied(t)(p.Amend(t.Context(), []store.Change{{ID: id(0), Old: l.Raw, Transition: record.Transition{From: record.Candidate, To: record.Candidate,
			Next: l.Record, Event: &record.Step{From: record.Candidate, To: record.Candidate, By: record.ByRepair}}}}))
		if n := at.raw.XLen(t.Context(), at.key("events")).Val(); n < 10_000 || n > 10_200 {
			t.Errorf("%d events kept, want about 10,000", n)
		}
		if last := at.raw.XRevRangeN(t.Context(), at.key("events"), "+", "-", 1).Val(); last[0].Values["by"] != "repair" {
			t.Errorf("the last event is %v", last)
		}
	})
}

func TestPurgeLeavesNothing(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, ids(0, 5)...)
		plant(t, p, record.Cooling, 1, ids(5, 9)...)
		plant(t, p, record.Eligible, 1, ids(9, 12)...)
		amendURL(t, p, id(9), "http://u:p@10.0.0.1:1")
		amend(t, p, id(10), record.Disabled, 0, func(r *record.Record) { r.Holds, r.HoldUntilMs = []record.Hold{record.Operator}, 5 })
		commit(t, p, move(one(t, p), record.Eligible, 1, 0))
		claim(t, p, request(5))
		if _, err := p.Recheck(t.Context(), 0, ids(0, 12)); err != nil {
			t.Fatal(err)
		}
		if err := p.SourceApplied(t.Context(), "s", "x"); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"guard", "jobs", "inflight", "reports", "reported", "suspects"} { // written by later work
			at.raw.Set(t.Context(), at.key(part), 1, 0)
		}
		plant(t, at.store(t).Pool("c2"), record.Candidate, 1, id(0))
		if keys := at.raw.Keys(t.Context(), "proxyward:{c}:*").Val(); len(keys) < 18 {
			t.Fatalf("before: %v: too few to mean anything", keys)
		}
		if err := p.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if keys := at.raw.Keys(t.Context(), "proxyward:{c}:*").Val(); len(keys) != 0 {
			t.Errorf("left: %v", keys)
		}
		if n := at.raw.HLen(t.Context(), "proxyward:{c2}:endpoints").Val(); n != 1 {
			t.Errorf("another check lost its endpoint")
		}
	})
}

func TestForgetRemovesAllOfAnEndpoint(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		states := []record.State{record.Candidate, record.Eligible, record.Cooling, record.Permitted, record.Disabled}
		for i, s := range states {
			plant(t, p, s, now(t, p)+3600_000, id(i))
			amendURL(t, p, id(i), "http://u:p@10.0.0.1:1")
		}
		plant(t, p, record.Eligible, 1<<45, id(7))
		amend(t, p, id(4), record.Disabled, 0, func(r *record.Record) { r.HoldUntilMs = 5 })
		if err := p.SourceApplied(t.Context(), "file:l", "digest"); err != nil {
			t.Fatal(err)
		}
		var entries []store.Entry
		for i := range states {
			entries = append(entries, look(t, p, id(i)))
		}
		amend(t, p, id(0), record.Candidate, 0, func(r *record.Record) { r.Note = "new" }) // after it was read
		codes, err := p.Forget(t.Context(), record.ByOperator, entries)
		if err != nil || codes[0] != store.Changed || slices.Max(codes[1:]) != store.Applied {
			t.Fatal(codes, err)
		}
		for i := range states {
			if e := look(t, p, id(i)); e.Known() != (i == 0) || i > 0 && (e.URL != e.ID || e.Member || waits(e) != "nowhere") {
				t.Errorf("%s is left: %+v", states[i], e)
			}
		}
		events, _, err := p.Events(t.Context(), "0", 100)
		if err != nil || len(events) != len(states)-1 {
			t.Fatal(events, err)
		}
		for i, e := range events {
			if e["endpoint"] != id(i+1) || e["from"] != string(states[i+1]) || e["to"] != "none" || e["by"] != "operator" || e["at_ms"] == "" {
				t.Errorf("told %v, want that %s is forgotten", e, states[i+1])
			}
		}
		if held, err := p.Ended(t.Context(), 1<<50); err != nil || len(held) != 0 {
			t.Errorf("holds left: %v, %v", held, err)
		}
		if _, digest, err := p.HoldSource(t.Context(), "file:l", "d", time.Second, false); err != nil || digest != "" {
			t.Errorf("its source would not be read again: %q, %v", digest, err)
		}
	})
}

// A record that cannot be read can still be forgotten, and the counts stay right.
func TestForgetAnUnreadableRecord(t *testing.T) {
	cases := []record.State{record.Candidate, record.Eligible, record.Cooling, record.Disabled}
	contract(t, func(t *testing.T, at place) {
		for _, state := range cases {
			t.Run(string(state), func(t *testing.T) {
				at.flush(t)
				p := at.pool(t)
				plant(t, p, state, 1<<45, id(0))
				at.raw.HSet(t.Context(), at.key("endpoints"), id(0), "rubbish")
				entries, bad, err := p.Look(t.Context(), ids(0, 1))
				if err != nil || len(bad) != 1 {
					t.Fatal(bad, err)
				}
				applied(t)(p.Forget(t.Context(), record.ByOperator, entries))
				if n := at.raw.HGet(t.Context(), at.key("counts"), string(state)).Val(); n != "0" {
					t.Errorf("%s of %s are counted", n, state)
				}
			})
		}
	})
}

func TestOneDaemonAtATimeRefreshesASource(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		claim(t, p, request(0))
		hold := func(source, daemon string, want bool, digest string) {
			t.Helper()
			mine, got, err := p.HoldSource(t.Context(), source, daemon, time.Minute, false)
			if err != nil || mine != want || got != digest {
				t.Errorf("%s holds %s: %v, digest %q, %v; want %v, %q", daemon, source, mine, got, err, want, digest)
			}
		}
		hold("file:a b", "host one:1", true, "")
		hold("file:a b", "host two:1", false, "")
		hold("file:b", "host two:1", true, "")
		if err := p.SourceApplied(t.Context(), "file:a b", "abc"); err != nil {
			t.Fatal(err)
		}
		at.later(t, 40*time.Second)
		hold("file:a b", "host one:1", true, "abc") // prolonged
		at.later(t, 40*time.Second)
		hold("file:a b", "host two:1", false, "abc")
		at.later(t, 21*time.Second)
		hold("file:a b", "host two:1", true, "abc")
		hold("file:a b", "host one:1", false, "abc")
		if mine, _, err := p.HoldSource(t.Context(), "file:a b", "host one:1", time.Minute, true); err != nil || !mine {
			t.Errorf("seized: %v, %v", mine, err)
		}
		hold("file:a b", "host two:1", false, "abc")
	})
}

func TestHoldsThatEndAreListed(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1<<45, ids(0, 4)...)
		for i, until := range []int64{3000, 0, 1000, 9000} {
			amend(t, p, id(i), record.Disabled, 0, func(r *record.Record) { r.Holds, r.HoldUntilMs = []record.Hold{record.Operator}, until })
		}
		ended := func(ms int64, want ...string) {
			t.Helper()
			if got, err := p.Ended(t.Context(), ms); err != nil || !slices.Equal(got, want) {
				t.Errorf("ended by %d: %v, %v, want %v", ms, got, err, want)
			}
		}
		ended(999)
		ended(3000, id(2), id(0))
		amend(t, p, id(2), record.Candidate, 5, func(r *record.Record) { r.Holds, r.HoldUntilMs = nil, 0 })
		ended(5000, id(0))
		amend(t, p, id(0), record.Disabled, 0, func(r *record.Record) { r.HoldUntilMs = 7000 })
		ended(5000)
	})
}

func TestChecksNamesThoseUnderThePrefix(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, url string) {
		raw := testenv.Client(t, url)
		for _, prefix := range []string{"", "p*", "a[b]?", `back\slash`, "p"} {
			s, err := store.Open(store.Address{URL: url, Prefix: prefix})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got, err := s.Checks(t.Context()); err != nil || got == nil || len(got) != 0 {
				t.Errorf("%q: %v, %v before there is one", prefix, got, err)
			}
			for _, name := range []string{"zoo", "a-1"} {
				p := s.Pool(name)
				plant(t, p, record.Candidate, 1, id(0))
				if p.Name() != name {
					t.Error(p.Name())
				}
			}
			raw.Set(t.Context(), "p9:{x}:endpoints", 1, 0)
			raw.Set(t.Context(), "ab:{x}:endpoints", 1, 0)
			raw.Set(t.Context(), prefix+":{a}:x:{b}:endpoints", 1, 0)
			if got, err := s.Checks(t.Context()); err != nil || !slices.Equal(got, []string{"a-1", "zoo"}) {
				t.Errorf("%q: %v, %v", prefix, got, err)
			}
		}
	})
}

func TestWakeupsTellOfUrgentWorkUntilTheEnd(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p, asker := at.pool(t), at.pool(t)
		plant(t, p, record.Candidate, 1<<45, id(0))
		ctx, stop := context.WithCancel(t.Context())
		wake := p.Wakeups(ctx)
		testenv.Eventually(t, 5*time.Second, "no wakeup", func() bool {
			if _, err := asker.Recheck(t.Context(), 0, []string{id(0)}); err != nil {
				t.Fatal(err)
			}
			select {
			case _, open := <-wake:
				return open
			default:
				return false
			}
		})
		stop()
		closed := time.After(5 * time.Second)
		for {
			select {
			case _, open := <-wake:
				if !open {
					return
				}
			case <-closed:
				t.Fatal("the channel is open after its context ended")
			}
		}
	})
}

func TestScanMeetsEveryEndpoint(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, ids(0, 500)...)
		at.raw.HSet(t.Context(), at.key("endpoints"), id(3), "rubbish")
		met, unreadable := map[string]bool{}, 0
		err := p.Scan(t.Context(), func(entries []store.Entry, bad []error) error {
			for _, e := range entries {
				met[e.ID] = true
			}
			unreadable += len(bad)
			return nil
		})
		if err != nil || len(met) != 500 || unreadable != 1 {
			t.Errorf("%d met, %d unreadable, %v", len(met), unreadable, err)
		}
		stop := fmt.Errorf("enough")
		if err := p.Scan(t.Context(), func([]store.Entry, []error) error { return stop }); err != stop {
			t.Error(err)
		}
		at.raw.HSet(t.Context(), at.key("endpoints"), id(3), look(t, p, id(2)).Raw)
	})
}
