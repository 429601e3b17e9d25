package scheduler_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap/zaptest/observer"

	"proxyward/internal/testenv"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// What a list does to an endpoint is a line with its name, as what a probe does.
func TestEachMoveIsALine(t *testing.T) {
	t.Parallel()
	list, c, p, farm, url := refreshed(t)
	writeList(t, list, listed(farm, 0, 3)...)
	logs := watched(t, url, c)
	testenv.Eventually(t, 20*time.Second, "3 eligible", func() bool { return states(t, p)[record.Eligible] == 3 })
	writeList(t, list, listed(farm, 0, 2)...)
	testenv.Eventually(t, 20*time.Second, "one is retired", func() bool { return states(t, p)[record.Disabled] == 1 })
	testenv.Eventually(t, 5*time.Second, "each is told", func() bool {
		told := map[string]string{}
		for _, e := range logs.FilterMessage("moved").All() {
			m := e.ContextMap()
			told[m["endpoint"].(string)] += m["by"].(string) + " " + m["to"].(string) + " "
		}
		return told[farm.ID(0)] == "source candidate probe eligible " && told[farm.ID(2)] == "source candidate probe eligible source disabled "
	})
}

const marker = "http://marker.example:"

// caughtUp waits until each daemon has read all events written until now: one more is
// written, anew every second lest it be left out of very many, until each told it.
func caughtUp(t *testing.T, raw *redis.Client, daemons ...*observer.ObservedLogs) {
	t.Helper()
	first := time.Now().UnixNano()
	next, last := time.Time{}, first
	testenv.Eventually(t, 30*time.Second, "the events are followed", func() bool {
		if now := time.Now(); now.After(next) {
			next, last = now.Add(1100*time.Millisecond), last+1
			written(t, raw, 1, fmt.Sprint(marker, last))
		}
		for _, logs := range daemons {
			found := false
			for _, e := range lines(logs) {
				var n int64
				found = found || strings.HasPrefix(e["endpoint"].(string), marker) && parsed(e["endpoint"].(string)[len(marker):], &n) && n > first
			}
			if !found {
				return false
			}
		}
		return true
	})
}

func parsed(text string, n *int64) bool { _, err := fmt.Sscan(text, n); return err == nil }

// written puts n events of an operator into the stream at once.
func written(t *testing.T, raw *redis.Client, n int, id string) {
	t.Helper()
	pipe := raw.Pipeline()
	for range n {
		pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: key("events"), MaxLen: 10_000, Approx: true, Values: []string{"endpoint", id,
			"from", "eligible", "to", "disabled", "by", "operator"}})
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// lines are those about moves.
func lines(logs *observer.ObservedLogs) (all []map[string]any) {
	for _, e := range logs.FilterMessage("moved").All() {
		all = append(all, e.ContextMap())
	}
	return all
}

// leftOut is how many lines about moves were left out, as the log says.
func leftOut(logs *observer.ObservedLogs) (n int) {
	for _, e := range logs.All() {
		if left, ok := e.ContextMap()["left_out"].(int64); ok {
			n += int(left)
		}
	}
	return n
}

// told counts the lines of moves by what they say, of all but the markers.
func told(by func(string) bool, daemons ...*observer.ObservedLogs) map[string]int {
	n := map[string]int{}
	for _, logs := range daemons {
		for _, e := range lines(logs) {
			if by(e["by"].(string)) && !strings.HasPrefix(e["endpoint"].(string), marker) {
				n[fmt.Sprint(e["endpoint"], " ", e["from"], ">", e["to"], " ", e["by"], " ", e["detail"], " ", e["probe"])]++
			}
		}
	}
	return n
}

// happened counts the events in the same words; an admission is told by the line of the tick.
func happened(t *testing.T, p *store.Pool, by func(string) bool) map[string]int {
	t.Helper()
	events, _, err := p.Events(t.Context(), "0", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, e := range events {
		from := strings.TrimPrefix(e["from"], "new")
		if by(e["by"]) && e["to"] != "permitted" && !strings.HasPrefix(e["endpoint"], marker) {
			n[fmt.Sprint(e["endpoint"], " ", from, ">", e["to"], " ", e["by"], " ", e["detail"], " ", e["probe"])]++
		}
	}
	return n
}

func byProbe(by string) bool  { return by == "probe" }
func byOthers(by string) bool { return by == "operator" || by == "repair" }

// An operator's moves and repairs are made by any process; each daemon tells them, once.
// Those of probes are told by the daemon that made them alone.
func TestWhatOtherProcessesDoIsALineToo(t *testing.T) {
	t.Parallel()
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p, raw, farm := openPool(t, url), testenv.Client(t, url), testenv.NewFarm(t, 6)
		c := testCheck(t)
		c.Policy.Recheck = 2 * time.Second
		d, here := watchedDaemon(t, url, c)
		there := watched(t, url, c)
		caughtUp(t, raw, here, there)
		enroll(t, p, farm, 6)
		testenv.Eventually(t, 20*time.Second, "6 eligible", func() bool { return states(t, p)[record.Eligible] == 6 })
		disable := func(i int, note string, d time.Duration) {
			if _, err := scheduler.Disable(t.Context(), p, []string{farm.ID(i)}, note, d); err != nil {
				t.Fatal(err)
			}
		}
		disable(0, "out", 0)
		caughtUp(t, raw, here, there)
		for _, logs := range []*observer.ObservedLogs{here, there} {
			var found []map[string]any
			for _, e := range lines(logs) {
				if e["endpoint"] == farm.ID(0) && e["to"] == "disabled" {
					found = append(found, e)
				}
			}
			if len(found) != 1 || found[0]["check"] != "c" || found[0]["from"] != "eligible" || found[0]["by"] != "operator" || found[0]["pause_ms"] != int64(0) {
				t.Errorf("disabled: told %v", found)
			}
		}
		disable(1, "out, back", 0)
		if _, err := scheduler.Enable(t.Context(), p, []string{farm.ID(1)}); err != nil {
			t.Fatal(err)
		}
		disable(2, "for a moment", time.Millisecond) // a daemon ends it
		disable(3, "for good", 0)
		codes, err := p.Forget(t.Context(), record.ByOperator, []store.Entry{look(t, p, farm.ID(3))})
		testenv.Eventually(t, 20*time.Second, "forgotten", func() bool {
			if err == nil && codes[0] == store.Busy { // it was just being probed
				codes, err = p.Forget(t.Context(), record.ByOperator, []store.Entry{look(t, p, farm.ID(3))})
			}
			return err != nil || codes[0] == store.Applied
		})
		for i := range 3 { // a reload goes on where it was
			c.Policy.Recheck += time.Second
			if err := d.Apply([]scheduler.Check{c}, 0); err != nil {
				t.Fatal(err)
			}
			disable(4, fmt.Sprint("reload ", i), 0)
			if _, err := scheduler.Enable(t.Context(), p, []string{farm.ID(4)}); err != nil {
				t.Fatal(err)
			}
		}
		raw.HSet(t.Context(), key("endpoints"), farm.ID(5), `{"state":"eligi`) // unreadable
		if r, err := p.Repair(t.Context()); err != nil || len(r.Violations) == 0 {
			t.Fatal(r, err)
		}
		testenv.Eventually(t, 30*time.Second, "4 eligible", func() bool { return states(t, p)[record.Eligible] == 4 })
		caughtUp(t, raw, here, there)
		want := happened(t, p, byOthers)
		for _, words := range []string{farm.ID(2) + " disabled>candidate operator", farm.ID(3) + " disabled>none operator forgotten", farm.ID(5) + " none>candidate repair",
			farm.ID(0) + " >candidate operator"} {
			found := 0
			for w, n := range want {
				if strings.HasPrefix(w, words) {
					found += n
				}
			}
			if found != 1 {
				t.Errorf("%d events %q", found, words)
			}
		}
		for _, logs := range []*observer.ObservedLogs{here, there} {
			if got := told(byOthers, logs); !maps.Equal(got, want) {
				t.Errorf("told     %v\nhappened %v", got, want)
			}
		}
		var got map[string]int
		testenv.Eventually(t, 20*time.Second, "what probes did is told once in the fleet, with the probe's id", func() bool {
			got, want = told(byProbe, here, there), happened(t, p, byProbe)
			return len(want) > 5 && maps.Equal(got, want)
		})
		steps := 0
		for i := range 6 {
			for _, s := range look(t, p, farm.ID(i)).Record.History {
				if s.By != record.ByProbe {
					continue
				}
				steps++
				if words := fmt.Sprint(farm.ID(i), " ", s.From, ">", s.To, " ", s.By, " ", s.Detail, " ", s.Probe); s.Probe == "" || want[words] != 1 {
					t.Errorf("no event %q", words)
				}
			}
		}
		if steps < 5 {
			t.Errorf("%d steps by probes in the histories", steps)
		}
	})
}

// Thousands of moves at once, or read at once after a lag, are a bounded number of lines:
// 100 within a second, then one of a hundred, and how many were left out. What comes later is
// told as ever.
func TestVeryManyMovesAreFewLines(t *testing.T) {
	t.Parallel()
	testenv.EachRedis(t, func(t *testing.T, url string) {
		const many = 3000
		p, raw, farm := openPool(t, url), testenv.Client(t, url), testenv.NewFarm(t, 1)
		enroll(t, p, farm, many)
		all := make([]string, many)
		for i := range all {
			all[i] = farm.ID(i)
		}
		if _, err := scheduler.Disable(t.Context(), p, all, "", 0); err != nil { // nothing probes them
			t.Fatal(err)
		}
		logs := watched(t, url, testCheck(t))
		caughtUp(t, raw, logs)
		if n := len(told(byOthers, logs)); n != 0 {
			t.Errorf("%d lines about what was before it started", n)
		}
		bounded := func(what string, moves, kept int, f func()) {
			t.Helper()
			before, out, began := len(lines(logs)), leftOut(logs), time.Now()
			f()
			caughtUp(t, raw, logs)
			heard := func() int { return len(lines(logs)) - before + leftOut(logs) - out }
			testenv.Eventually(t, 20*time.Second, what+": it says how many were left out", func() bool { return heard() >= kept })
			if most := moves + 30; heard() > most { // the markers are moves, too
				t.Errorf("%s: %d moves told or left out, of at most %d", what, heard(), most)
			}
			seconds := int(time.Since(began)/time.Second) + 2
			n := len(lines(logs)) - before
			t.Logf("%s: %d lines for %d moves within %d s", what, n, moves, seconds)
			if most := 100*seconds + moves/100; n < 100 || n > most || most > moves/2 {
				t.Errorf("%s: %d lines for %d moves within %d s", what, n, moves, seconds)
			}
		}
		bounded("forgotten", many, many, func() {
			entries, _, err := p.Look(t.Context(), all)
			if err == nil {
				_, err = p.Forget(t.Context(), record.ByOperator, entries)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		bounded("more than the stream keeps", 15_000, 10_000, func() { written(t, raw, 15_000, farm.ID(0)) })
		testenv.Eventually(t, 20*time.Second, "a quiet second", ticksPassed(t, p, 1100))
		written(t, raw, 1, farm.ID(1))
		caughtUp(t, raw, logs)
		n := 0
		for _, e := range lines(logs) {
			if e["endpoint"] == farm.ID(1) && e["to"] == "disabled" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("a move after that was told %d times", n)
		}
	})
}

// A pool that was lost has a stream that begins anew, even with ids that lie before. The
// daemon has the rights of configs/redis-acl.conf.
func TestAStreamThatBeginsAnewIsFollowed(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t, "--include", testenv.ACL(t))
	raw := testenv.Client(t, url)
	logs := watched(t, testenv.As("proxyward", url), testCheck(t))
	raw.XAdd(t.Context(), &redis.XAddArgs{Stream: key("events"), ID: "9000000000000000-1", Values: []string{"endpoint", "*", "by", "guard"}})
	caughtUp(t, raw, logs) // it is where no clock will ever be
	raw.Del(t.Context(), key("events"))
	caughtUp(t, raw, logs)
	if n := loud(logs).FilterMessageSnippet("redis").Len(); n > 0 {
		t.Errorf("complaints: %v", loud(logs).All())
	}
}
