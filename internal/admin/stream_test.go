package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

// message is one server-sent event; comments are left out.
type message struct{ id, name, data string }

// listenTo reads a stream until the test ends.
func listenTo(d *desk, path, after string) <-chan message {
	d.Helper()
	ctx, cancel := context.WithCancel(d.Context())
	d.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", d.base+path, nil)
	if err != nil {
		d.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		d.Fatal(resp, err)
	}
	lines := bufio.NewReader(resp.Body)
	if first, err := lines.ReadString('\n'); first != "retry: 2000\n" {
		d.Fatal(first, err)
	}
	all := make(chan message, 100)
	go func() {
		defer close(all)
		defer resp.Body.Close()
		var m message
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				m.id = value
			case "event":
				m.name = value
			case "data":
				m.data = value
			case "":
				if m.data != "" {
					all <- m
				}
				m = message{}
			}
		}
	}()
	return all
}

func next(d *desk, from <-chan message) (message, event) {
	d.Helper()
	select {
	case m, open := <-from:
		if !open {
			d.Fatal("the stream ended")
		}
		var e event
		if err := json.Unmarshal([]byte(m.data), &e); err != nil {
			d.Fatal(err, m.data)
		}
		return m, e
	case <-time.After(10 * time.Second):
		d.Fatal("no event within 10 s")
	}
	return message{}, event{}
}

func TestEventsAreToldAsTheyHappenAndResumed(t *testing.T) {
	d := serve(t)
	d.enroll(1)
	live := listenTo(d, "/api/v1/events", "")
	const id = "http://10.0.0.0:80"
	d.ask("POST", "/api/v1/checks/c/disable", `{"endpoints": ["`+id+`"], "note": "</script>\u2028"}`)
	m, e := next(d, live)
	if m.name != "transition" || e.Endpoint != id || e.From != "candidate" || e.To != "disabled" || e.By != "operator" || m.id != e.ID || e.Check != "c" {
		t.Errorf("%+v %+v: the first is what happened after somebody listened", m, e)
	}
	if strings.ContainsAny(m.data, "<>") {
		t.Errorf("markup: %s", m.data)
	}
	d.ask("POST", "/api/v1/checks/c/enable", `{"endpoints": ["`+id+`"]}`)
	if err := d.pool.Tell(t.Context(), "reload_refused", "the new configuration is refused"); err != nil {
		t.Fatal(err)
	}
	_, second := next(d, live)
	n, third := next(d, live)
	if second.To != "candidate" || n.name != "notice" || third.Endpoint != "*" || third.Reason != "reload_refused" {
		t.Errorf("%+v, %+v %+v", second, n, third)
	}
	for _, path := range []string{"/api/v1/events", "/api/v1/events?check=c"} {
		if _, again := next(d, listenTo(d, path, e.ID)); again != second {
			t.Errorf("%s: after the first comes %+v, want %+v", path, again, second)
		}
	}
	if _, again := next(d, listenTo(d, "/api/v1/events?after="+second.ID, "")); again != third {
		t.Errorf("after the second comes %+v", again)
	}
	past := get[struct {
		Events []event
		Next   string
	}](d, "/api/v1/checks/c/events?limit=2")
	if len(past.Events) != 2 || past.Events[0] != third || past.Events[1] != second || past.Next != second.ID {
		t.Errorf("%+v", past)
	}
	if older := get[struct{ Events []event }](d, "/api/v1/checks/c/events?before="+past.Next); len(older.Events) != 2 || older.Events[0] != e {
		t.Errorf("%+v", older)
	}
}

func TestWhoMissedEventsIsToldSo(t *testing.T) {
	redis := testenv.Redis(t)
	d := serveOn(t, redis)
	d.enroll(1)
	client := testenv.Client(t, redis)
	first, err := d.pool.Latest(t.Context(), "", 1)
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	d.ask("POST", "/api/v1/checks/c/disable", `{"endpoints": ["http://10.0.0.0:80"]}`)
	if m, _ := next(d, listenTo(d, "/api/v1/events", first[0].ID)); m.name != "transition" {
		t.Errorf("nothing was missed, yet %+v", m)
	}
	client.XTrimMaxLen(t.Context(), "proxyward:{c}:events", 1)
	after := listenTo(d, "/api/v1/events", "5-0")
	if m, _ := next(d, after); m.name != "gap" || m.id != "" {
		t.Errorf("%+v, want a gap", m)
	}
	if m, e := next(d, after); m.name != "transition" || e.To != "disabled" {
		t.Errorf("%+v", m)
	}
}

func TestAStreamOutlivesRedisAndTheRequestTime(t *testing.T) {
	t.Parallel()
	redis := testenv.NewServer(t)
	d := serveOn(t, redis.URL)
	d.enroll(1)
	live := listenTo(d, "/api/v1/events", "")
	redis.Kill()
	time.Sleep(requestTime + 2*time.Second) // past what any other request may take
	redis.Start()
	d.enroll(1)
	if m, _ := next(d, live); m.name != "gap" { // this Redis keeps nothing
		t.Errorf("%+v, want a gap", m)
	}
	if _, e := next(d, live); e.To != "candidate" {
		t.Errorf("%+v", e)
	}
}

func TestAskingForTheHeadOfAStreamEnds(t *testing.T) {
	d := serve(t)
	if r := d.ask("HEAD", "/api/v1/events", ""); r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/event-stream" || r.body != "" {
		t.Errorf("%d %v %q", r.StatusCode, r.Header, r.body)
	}
}

func TestStreamsEndWithTheServer(t *testing.T) {
	d := serve(t)
	d.enroll(1)
	live := listenTo(d, "/api/v1/events", "")
	d.listener.Close() // Run ends as it does at the stop
	select {
	case m, open := <-live:
		if open {
			t.Errorf("%+v", m)
		}
	case <-time.After(stopPatience):
		t.Error("it goes on")
	}
}

// Whoever reads events finds the probe by the word that the log has for it.
func TestEventsNameTheirProbe(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, redis string) {
		d := serveOn(t, redis)
		id := d.enroll(1)[0]
		first, err := d.pool.Latest(t.Context(), "", 1)
		if err != nil || len(first) != 1 {
			t.Fatal(first, err)
		}
		g, err := d.pool.Claim(t.Context(), store.Claim{Daemon: "d", Slots: 1, Lease: time.Minute, PerTick: 1, MaxTick: 1,
			Window: time.Minute, Rate: 100, Alive: time.Minute})
		if err != nil || len(g.Leases) != 1 || g.Leases[0].Probe() == "" {
			t.Fatal(g, err)
		}
		l, to := g.Leases[0], record.Cooling
		after := l.Record.Clone()
		after.State = to
		codes, err := d.pool.Commit(t.Context(), store.Terms{Lease: time.Minute}, []store.Change{{ID: l.ID, Token: l.Token, Old: l.Raw,
			Transition: record.Transition{From: l.Record.State, To: to, Next: after, DueMs: g.Now + 1000, DelayMs: 60_000,
				Event: &record.Step{From: l.Record.State, To: to, By: record.ByProbe, Stage: "connect", Reason: "refused"}}}})
		if err != nil || codes[0] != store.Applied {
			t.Fatal(codes, err)
		}
		probe := l.Probe()
		past := get[struct{ Events []event }](d, "/api/v1/checks/c/events?limit=2").Events
		if len(past) != 2 || past[0].Endpoint != id || past[0].By != "probe" || past[0].Probe != probe || past[1].Probe != "" {
			t.Errorf("%+v, want one by probe %s, and one by none", past, probe)
		}
		if _, e := next(d, listenTo(d, "/api/v1/events", first[0].ID)); e != past[0] {
			t.Errorf("the stream tells %+v", e)
		}
	})
}
