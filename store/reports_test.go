package store_test

import (
	"fmt"
	"maps"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

// report runs the workers' own script.
func (at place) report(t testing.TB, endpoint, outcome, worker string, ms int) string {
	t.Helper()
	text, err := os.ReadFile("lua/report.lua")
	if err != nil {
		t.Fatal(err)
	}
	entry, err := redis.NewScript(string(text)).Run(t.Context(), at.raw, []string{at.key("reports")},
		endpoint, outcome, "connect", "refused", worker, ms).Text()
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func reports(t testing.TB, p *store.Pool, daemon string) []record.Report {
	t.Helper()
	all, now, err := p.ReadReports(t.Context(), daemon)
	if err != nil || now == 0 {
		t.Fatal(now, err)
	}
	return all
}

// plainly applies a report without any consequence.
func plainly(r record.Report) store.ReportChange {
	return store.ReportChange{Entries: []string{r.Entry}, Tally: map[string]int{"applied": 1}}
}

func apply(t testing.TB, p *store.Pool, items ...store.ReportChange) []store.Code {
	t.Helper()
	codes, err := p.ApplyReports(t.Context(), 1000, items)
	if err != nil {
		t.Fatal(err)
	}
	return codes
}

func (at place) pending(t testing.TB) int64 {
	t.Helper()
	x, err := at.raw.XPending(t.Context(), at.key("reports"), "proxyward").Result()
	if err != nil {
		t.Fatal(err)
	}
	return x.Count
}

// idle makes what a reader took look as if it had taken it long ago.
func (at place) idle(t testing.TB, daemon string, entries ...string) {
	t.Helper()
	if err := at.raw.Do(t.Context(), append([]any{"XCLAIM", at.key("reports"), "proxyward", daemon, 0}, append(anys(entries), "IDLE", 11_000, "JUSTID")...)...).Err(); err != nil {
		t.Fatal(err)
	}
}

func anys(words []string) (all []any) {
	for _, w := range words {
		all = append(all, w)
	}
	return all
}

func reportCounts(t testing.TB, p *store.Pool) map[string]int64 {
	t.Helper()
	counts, err := p.ReportCounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func TestReportsComeOnceToOneReader(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		start := now(t, p)
		var want []string
		for i := range 250 { // before there is a group, too
			want = append(want, at.report(t, id(i), "failed", "w", i+1))
		}
		first, second := reports(t, p, "a"), reports(t, at.pool(t), "b")
		if len(first) != 200 || len(second) != 50 || len(reports(t, p, "a")) != 0 {
			t.Fatalf("%d and %d", len(first), len(second))
		}
		for i, r := range append(first, second...) {
			if r.Entry != want[i] || r.Endpoint != id(i) || r.Outcome != "failed" || r.Stage != "connect" || r.Reason != "refused" ||
				r.Worker != "w" || r.WorkerMs != strconv.Itoa(i+1) || r.AtMs < start-1000 || r.AtMs > now(t, p) {
				t.Fatalf("report %d: %+v", i, r)
			}
			if want := len("endpointoutcomestagereasonworkerat_ms") + len(id(i)) + len("failedconnectrefusedw") + len(r.WorkerMs); r.Size != want {
				t.Fatalf("report %d: size %d, want %d", i, r.Size, want)
			}
		}
		if n := at.pending(t); n != 250 {
			t.Errorf("%d pending before they are applied", n)
		}
	})
}

func TestReportsAreAcknowledgedWithWhatTheyComeTo(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Eligible, now(t, p)+3600_000, ids(0, 2)...)
		at.report(t, id(0), "failed", "w", 1)
		at.report(t, id(1), "failed", "w", 2)
		at.report(t, "http://joe:pass@10.9.9.9:1", "failed", "w", 3)
		r := reports(t, p, "a")
		codes := apply(t, p,
			store.ReportChange{Endpoint: id(0), Entries: []string{r[0].Entry}, Tally: map[string]int{"applied": 1}, Next: "one", Asked: "asked", Ask: true,
				EndsMs: 1 << 45, Stage: "connect", Reason: "refused", Detail: "3 bad reports"},
			store.ReportChange{Endpoint: id(1), Entries: []string{r[1].Entry}, Tally: map[string]int{"applied": 1}, Next: "two", EndsMs: 1 << 45},
			store.ReportChange{Entries: []string{r[2].Entry}, Delete: true, Tally: map[string]int{"password": 1}})
		if fmt.Sprint(codes) != fmt.Sprint([]store.Code{store.Sent, store.Applied, store.Applied}) {
			t.Fatal(codes)
		}
		if n := at.pending(t); n != 0 {
			t.Errorf("%d pending", n)
		}
		states, err := p.Reported(t.Context(), ids(0, 3))
		if err != nil || fmt.Sprint(states) != "[asked two ]" {
			t.Error(states, err)
		}
		if e := look(t, p, id(0)); e.Lanes[record.Urgent]>>36 != store.ReportPriority || len(e.Lanes) != 1 {
			t.Errorf("the one asked for waits %s", waits(e))
		}
		if e := look(t, p, id(1)); e.Lanes[record.Recheck] == 0 {
			t.Errorf("the other waits %s", waits(e))
		}
		if left := at.raw.XRange(t.Context(), at.key("reports"), "-", "+").Val(); len(left) != 2 {
			t.Errorf("entries left: %v", left)
		}
		if got := reportCounts(t, p); !maps.Equal(got, map[string]int64{"applied": 2, "password": 1, "asked": 1}) {
			t.Error(got)
		}
		events, _, err := p.Events(t.Context(), "0", 100)
		if err != nil || len(events) != 1 || events[0]["by"] != "report" || events[0]["endpoint"] != id(0) || events[0]["from"] != "eligible" ||
			events[0]["to"] != "eligible" || events[0]["reason"] != "refused" || events[0]["detail"] != "3 bad reports" {
			t.Error(events, err)
		}
	})
}

func TestReportsThatAReaderLeftAreAppliedOnceByAnother(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		dead, alive := at.pool(t), at.pool(t)
		plant(t, alive, record.Eligible, now(t, alive)+3600_000, id(0))
		var entries []string
		for i := range 3 {
			entries = append(entries, at.report(t, id(0), "failed", "w", i+1))
		}
		left := reports(t, dead, "dead")
		if n := len(reports(t, alive, "alive")); n != 0 {
			t.Fatalf("%d taken over at once", n)
		}
		at.idle(t, "dead", entries...)
		taken := reports(t, alive, "alive")
		if len(taken) != 3 || taken[0].Endpoint != id(0) || len(reports(t, alive, "alive")) != 0 {
			t.Fatal(taken)
		}
		applyAll := func(p *store.Pool, list []record.Report) (codes []store.Code) {
			for _, r := range list {
				codes = append(codes, apply(t, p, plainly(r))...)
			}
			return codes
		}
		if codes := applyAll(alive, taken); fmt.Sprint(codes) != "[0 0 0]" {
			t.Error(codes)
		}
		// The one that was thought dead wakes up.
		if codes := applyAll(dead, left); fmt.Sprint(codes) != "[1 1 1]" {
			t.Error(codes)
		}
		if codes := apply(t, dead, store.ReportChange{Endpoint: id(0), Entries: entries, Tally: map[string]int{"applied": 3}, Next: "x", EndsMs: 1 << 45}); codes[0] != store.Late {
			t.Error(codes)
		}
		if got := reportCounts(t, alive); got["applied"] != 3 {
			t.Error(got)
		}
		if states, _ := alive.Reported(t.Context(), ids(0, 1)); states[0] != "" {
			t.Error(states)
		}
	})
}

// What is taken again and again and never applied must not come for ever.
func TestAReportThatNobodyEverAppliesIsGivenUp(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		entry := at.report(t, id(0), "failed", "w", 1)
		times := 0
		for range 20 {
			if n := len(reports(t, p, "a")); n == 0 {
				break
			}
			times++
			at.idle(t, "a", entry)
		}
		if times < 2 || times > 5 || at.pending(t) != 0 || reportCounts(t, p)["lost"] != 1 { // some servers count what idle does
			t.Errorf("taken %d times, %d pending, %v", times, at.pending(t), reportCounts(t, p))
		}
	})
}

func TestReportsTrimmedWhilePendingAreLost(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		var entries []string
		for i := range 3 {
			entries = append(entries, at.report(t, id(i), "failed", "w", i+1))
		}
		reports(t, p, "dead")
		at.idle(t, "dead", entries...)
		if err := at.raw.XDel(t.Context(), at.key("reports"), entries[:2]...).Err(); err != nil {
			t.Fatal(err)
		}
		r := reports(t, p, "b")
		if len(r) != 1 || r[0].Entry != entries[2] {
			t.Fatal(r)
		}
		apply(t, p, plainly(r[0]))
		if got := reportCounts(t, p); got["lost"] != 2 || got["applied"] != 1 || at.pending(t) != 0 {
			t.Error(got, at.pending(t))
		}
	})
}

// The server's clock went back, or it was another server: no entry is in the future.
func TestTheTimeOfAReportIsThePools(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		claim(t, p, request(0))
		at.report(t, id(0), "failed", "w", 1)
		at.later(t, time.Hour)
		r := reports(t, p, "a")
		if pool := now(t, p); r[0].AtMs > pool || r[0].AtMs < pool-10_000 {
			t.Errorf("written at %d, now is %d", r[0].AtMs, pool)
		}
	})
}

func TestAWorkersUserMayRunTheWorkersScript(t *testing.T) {
	users(t, func(t *testing.T, url string, _ bool) {
		worker := place{raw: testenv.Client(t, testenv.As("worker", url)), key: func(part string) string { return "proxyward:{c}:" + part }}
		worker.report(t, id(0), "failed", "w", 1)
		if r := reports(t, storeAs(t, "proxyward", url).Pool(check), "a"); len(r) != 1 || r[0].Endpoint != id(0) {
			t.Errorf("%+v", r)
		}
	})
}
