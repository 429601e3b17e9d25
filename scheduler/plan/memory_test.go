package plan_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
	"proxyward/internal/testenv"
	"proxyward/scheduler/plan"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// used is what the server says it uses, in bytes.
func used(t *testing.T, c *redis.Client) int64 {
	t.Helper()
	info, err := c.Info(t.Context(), "memory").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(info, "\nused_memory:")
	n, err := strconv.ParseInt(strings.TrimSpace(after[:strings.IndexByte(after, '\n')]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// lived is the record of an endpoint after a life of passes (p) and failures (f), each
// judged by the machine itself, with the last transition.
func lived(t *testing.T, life string) record.Transition {
	t.Helper()
	const year = 1_800_000_000_000
	p := policy.Policy{Rise: 1, Fall: 1, Confirm: 10 * time.Second, Recheck: 5 * time.Minute,
		Cooldown: policy.Cooldown{Rule: policy.Rule{Base: 30 * time.Second, Factor: 2, Max: 30 * time.Minute}}}
	last, err := policy.Enroll(policy.Listed{Source: "file:/etc/proxyward/proxies.txt"}, policy.At{Ms: year, By: record.BySource})
	for i, step := range life {
		if err != nil {
			t.Fatal(err)
		}
		v := passed(time.UnixMilli(0)).Verdict
		if step == 'f' {
			v = []verdict.Verdict{verdict.Make(verdict.Connect, "timeout", ""), verdict.Make(verdict.Tunnel, "eof", "")}[i/2%2]
		}
		last, err = policy.Next(last.Next, policy.Result{Verdict: v, AtMs: year + int64(i)*300_000, Dice: 0.5, Probe: "0a1b2c3d4e5f6071-18"}, p)
	}
	last.From, last.DueMs, last.DelayMs = "", year*2, 1<<50
	if last.Event == nil {
		last.Event = &record.Step{To: last.To, By: record.ByProbe}
	}
	return last
}

// weigh is how much memory each of n endpoints with such a life takes, and their events.
func weigh(t *testing.T, n int, form, life string) (each, idBytes float64, events int64) {
	t.Helper()
	url := testenv.Redis(t)
	raw := testenv.Client(t, url)
	st, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	p := st.Pool("c")
	if _, err := st.Pool("other").Amend(t.Context(), []store.Change{{ID: "http://h:1", Transition: lived(t, "")}}); err != nil {
		t.Fatal(err) // the script is loaded now
	}
	tr := lived(t, life)
	var changes []store.Change
	for i := range n {
		e, err := endpoint.Parse(fmt.Sprintf(form, i, i%60000+1024))
		if err != nil {
			t.Fatal(err)
		}
		idBytes += float64(len(e.ID())) / float64(n)
		changes = append(changes, store.Change{ID: e.ID(), Transition: tr, URL: e.URL()})
	}
	before := used(t, raw)
	testenv.Eventually(t, 30*time.Second, "they are inserted", func() bool {
		_, err = p.Amend(t.Context(), changes)
		return err == nil
	})
	events, err = raw.MemoryUsage(t.Context(), "proxyward:{c}:events", 0).Result()
	if err != nil {
		t.Fatal(err)
	}
	return float64(used(t, raw)-before-events) / float64(n), idBytes, events
}

// TestMemory holds the estimate against a real server: each endpoint's share of what
// INFO memory says after 10,000 were inserted as the daemon inserts them.
func TestMemory(t *testing.T) {
	const n = 10_000
	for _, c := range []struct {
		name, form string
		passwords  float64
		life       string
		estimate   func(plan.Memory) int64
	}{
		{"new", "http://h%05d.example:%d", 0, "", func(m plan.Memory) int64 { return m.New }},
		{"grown", "http://h%05d.example:%d", 0, "pfpfp", func(m plan.Memory) int64 { return m.Grown }},
		{"full", "http://h%05d.example:%d", 0, "fffff", func(m plan.Memory) int64 { return m.Full }},
		{"new, long ids and passwords", "http://session-abcdefghijklmnopqrstuvwxyz0-%05d:passw0rd-1234@gate.example:%d", 1, "", func(m plan.Memory) int64 { return m.New }},
		{"full, long ids and passwords", "http://session-abcdefghijklmnopqrstuvwxyz0-%05d:passw0rd-1234@gate.example:%d", 1, "fffff", func(m plan.Memory) int64 { return m.Full }},
	} {
		t.Run(c.name, func(t *testing.T) {
			took, ids, events := weigh(t, n, c.form, c.life)
			m := plan.Of(with(func(s *plan.Settings) { s.Endpoints, s.IDBytes, s.Passwords = n, ids, c.passwords })).Memory
			each := float64(c.estimate(m)) / n
			t.Logf("%.0f B each, ids of %.0f B, reckoned %.0f; events %d", took, ids, each, events)
			if each < 0.6*took || each > 1.6*took {
				t.Errorf("reckoned %.0f B each, they take %.0f", each, took)
			}
			if events > m.Events {
				t.Errorf("the events take %d B, reckoned %d", events, m.Events)
			}
		})
	}
}

// TestMemoryOfJobs holds what counting jobs takes against a real server, a live job of each.
func TestMemoryOfJobs(t *testing.T) {
	const n = 10_000
	url := testenv.Redis(t)
	raw := testenv.Client(t, url)
	st, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	p, tr, ids := st.Pool("c"), lived(t, "p"), 0.0
	var changes []store.Change
	for i := range n {
		id := fmt.Sprintf("http://h%05d.example:%d", i, i%60000+1024)
		ids += float64(len(id)) / n
		changes = append(changes, store.Change{ID: id, Transition: tr})
	}
	if _, err := p.Amend(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	before := used(t, raw)
	if _, err := p.AbandonJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	for at, whole := uint64(0), false; !whole; whole = at == 0 {
		if at, _, err = p.FillJobs(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		if _, ok, err := p.Acquire(t.Context(), time.Hour, 1); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	took := float64(used(t, raw)-before) / n
	each := float64(plan.Of(with(func(s *plan.Settings) { s.Endpoints, s.IDBytes, s.Jobs = n, ids, true })).Memory.Jobs) / n
	t.Logf("%.0f B each, reckoned %.0f", took, each)
	if each < 0.6*took || each > 1.6*took {
		t.Errorf("reckoned %.0f B each, they take %.0f", each, took)
	}
}
