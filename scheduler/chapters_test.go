package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// everyChapter: a list is enrolled and probed; some fail, and an operator withdraws two; the
// failed ones come back through the trickle; the list changes, and one is forgotten.
func (s *story) everyChapter() {
	s.becomes(403, 3)
	s.becomes(503, 6)
	s.until("probed", s.are(map[record.State][]int{record.Eligible: {0, 1, 2, 4, 5, 7}, record.Cooling: {3}, record.Candidate: {6}}))

	s.becomes(403, 4, 5)
	s.order("disable", func(ctx context.Context) error {
		_, err := scheduler.Disable(ctx, s.pool, s.ids[2:3], "it looks odd", 0)
		return err
	})
	s.order("disable for a while", func(ctx context.Context) error {
		_, err := scheduler.Disable(ctx, s.pool, s.ids[1:2], "for a while", 3*time.Second)
		return err
	})
	s.order("recheck", func(ctx context.Context) error { _, err := s.pool.Recheck(ctx, 5, s.ids[:1]); return err })
	s.until("two failed, one back by itself", s.are(map[record.State][]int{
		record.Eligible: {0, 1, 7}, record.Cooling: {3, 4, 5}, record.Candidate: {6}, record.Disabled: {2}}))

	s.becomes(0, 3, 4, 5, 6)
	s.order("enable", func(ctx context.Context) error { _, err := scheduler.Enable(ctx, s.pool, s.ids[2:3]); return err })
	s.order("recheck the cooling", func(ctx context.Context) error { _, err := s.pool.Recheck(ctx, 0, s.ids[3:7]); return err })
	s.until("all are back", s.are(map[record.State][]int{record.Eligible: {0, 1, 2, 3, 4, 5, 6, 7}}))

	s.lists(0, 1, 2, 3, 4, 5, 6, 8)
	s.order("import", func(ctx context.Context) error {
		_, err := scheduler.Enroll(ctx, s.pool, scheduler.Imported, record.ByOperator, s.parse(s.ids[9]), 0)
		return err
	})
	s.until("one left the list, two came", s.are(map[record.State][]int{record.Eligible: {0, 1, 2, 3, 4, 5, 6, 8, 9}, record.Disabled: {7}}))

	s.forgotten[s.ids[7]] = true
	s.order("forget", func(ctx context.Context) error {
		entries, _, err := s.pool.Look(ctx, s.ids[7:8])
		if err != nil || !entries[0].Known() {
			return err
		}
		codes, err := s.pool.Forget(ctx, record.ByOperator, entries)
		if err == nil && codes[0] != store.Applied { // the lease of a claim that was lost has to run out
			err = errBusy
		}
		return err
	})
	s.until("it is forgotten", s.are(map[record.State][]int{record.Eligible: {0, 1, 2, 3, 4, 5, 6, 8, 9}}))
}

// are: exactly these endpoints are known, with these states, beside the two that share a host,
// which are eligible; nobody is on trial.
func (s *story) are(want map[record.State][]int) func(map[string]record.State) bool {
	all := map[string]record.State{s.shares[0]: record.Eligible, s.shares[1]: record.Eligible}
	for state, which := range want {
		for _, i := range which {
			all[s.ids[i]] = state
		}
	}
	return func(now map[string]record.State) bool {
		for id, state := range all {
			if now[id] != state {
				return false
			}
		}
		return len(now) == len(all)
	}
}

// chains are what may happen to each endpoint, admissions to a trial left out: they can be
// repeated when a claim is lost. Anything more was applied twice, anything less was lost.
var chains = map[string]string{
	"ann": "new candidate eligible", "bob": "new candidate eligible",
	"0": "new candidate eligible",
	"1": "new candidate eligible disabled candidate eligible",
	"2": "new candidate eligible disabled candidate eligible",
	"3": "new candidate cooling eligible",
	"4": "new candidate eligible cooling eligible", "5": "new candidate eligible cooling eligible",
	"6": "new candidate eligible",
	"7": "new candidate eligible disabled none",
	"8": "new candidate eligible", "9": "new candidate eligible",
}

// events holds the stream of events against the chains, and the admissions against the trickle.
func (s *story) events() {
	s.Helper()
	list, _, err := s.seen.Events(context.Background(), "0", 10_000)
	if err != nil {
		s.Fatal(err)
	}
	got, trial := map[string]string{}, map[string]bool{}
	var admitted []int64
	for _, e := range list {
		id := s.short(e["endpoint"])
		if e["to"] == "permitted" {
			ms, _ := strconv.ParseInt(e["at_ms"], 10, 64)
			admitted, trial[id] = append(admitted, ms), true
			continue
		}
		from := e["from"]
		if from == e["to"] { // a report had it probed soon
			continue
		}
		if from == "permitted" {
			if !trial[id] {
				s.Errorf("%s was on trial without an admission", id)
			}
			from, trial[id] = "cooling", false
		}
		if last := got[id][strings.LastIndexByte(got[id], ' ')+1:]; last != "" && last != from {
			s.Errorf("%s went from %s, but was %s", id, e["from"], last)
		}
		if got[id] == "" {
			got[id] = from
		}
		got[id] += " " + e["to"]
	}
	for id, want := range chains {
		if got[id] != want {
			s.Errorf("%s went %q, expected %q", id, got[id], want)
		}
	}
	for i := 1; i < len(admitted); i++ {
		if apart := admitted[i] - admitted[i-1]; apart < 1000 {
			s.Errorf("two admissions within %d ms", apart)
		}
	}
	if !slices.IsSorted(admitted) || len(admitted) < 3*storyRise {
		s.Error(fmt.Sprint("admissions: ", admitted))
	}
}
