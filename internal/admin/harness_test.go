package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/zap"

	"proxyward/checks/endpoint"
	"proxyward/internal/operate"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// fakeDaemon is one that ticks and has heard of Redis.
type fakeDaemon struct {
	stuck bool
	heard chan struct{}
}

func (d *fakeDaemon) Stuck() bool            { return d.stuck }
func (d *fakeDaemon) Heard() <-chan struct{} { return d.heard }

func newFakeDaemon() *fakeDaemon {
	d := &fakeDaemon{heard: make(chan struct{})}
	close(d.heard)
	return d
}

// desk is a server under test.
type desk struct {
	*testing.T
	*Server
	base string
	pool *store.Pool
}

// serve starts a server on miniredis, with one check c; edit changes the options first.
func serve(t *testing.T, edit ...func(*Options)) *desk {
	return serveOn(t, "redis://"+miniredis.RunT(t).Addr()+"/0", edit...)
}

func serveOn(t *testing.T, redis string, edit ...func(*Options)) *desk {
	t.Helper()
	st, err := store.Open(store.Address{URL: redis})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	conf := operate.Configured{{Name: "c", Sources: []scheduler.Source{{File: "/p.txt", Scheme: "http", Refresh: "@every 1m"},
		{URL: "https://ann:canarylist@lists.example/x?key=canarykey", Scheme: "socks5", Refresh: "@hourly"}}}}
	o := Options{Listen: "127.0.0.1:0", Store: st, Checks: func() operate.Configured { return conf }, Daemon: newFakeDaemon(),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a_metric 1\n") }), Lists: &Lists{},
		Words: func(err error) string { // as the command's, but shorter
			if errors.As(err, new(interface{ Timeout() bool })) || strings.Contains(err.Error(), "refused") {
				return "no Redis answers"
			}
			return ""
		}, Log: zap.NewNop()}
	for _, f := range edit {
		f(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { s.Run(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	return &desk{t, s, "http://" + s.Addr().String(), st.Pool("c")}
}

// enroll makes n endpoints known: http://192.0.2.N:80 and up.
func (d *desk) enroll(n int) (ids []string) {
	d.Helper()
	list := make([]endpoint.Endpoint, n)
	for i := range list {
		e, err := endpoint.Parse(fmt.Sprintf("http://10.%d.%d.%d:80", i>>16, i>>8&255, i&255))
		if err != nil {
			d.Fatal(err)
		}
		list[i] = e
		ids = append(ids, e.ID())
	}
	if _, err := scheduler.Enroll(d.Context(), d.pool, "file:/p.txt", record.BySource, list, 0); err != nil {
		d.Fatal(err)
	}
	return ids
}

// reply is an answer that was read whole.
type reply struct {
	*http.Response
	body string
}

// ask sends a request; headers are pairs of name and value.
func (d *desk) ask(method, path, body string, headers ...string) reply {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), method, d.base+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		d.Fatal(err)
	}
	return reply{resp, string(b)}
}

// get is ask for what must be answered well, decoded.
func get[T any](d *desk, path string) (v T) {
	d.Helper()
	r := d.ask("GET", path, "")
	if err := json.Unmarshal([]byte(r.body), &v); err != nil || r.StatusCode != 200 {
		d.Fatalf("%s: %d %v: %s", path, r.StatusCode, err, r.body)
	}
	return v
}

// is holds an answer against a status and a part of its body. A refusal must be a problem.
func (d *desk) is(what string, r reply, status int, part string) {
	d.Helper()
	if r.StatusCode != status || !strings.Contains(r.body, part) {
		d.Errorf("%s: %d %s, want %d with %q", what, r.StatusCode, r.body, status, part)
	}
	if status >= 400 {
		var p problem
		if err := json.Unmarshal([]byte(r.body), &p); err != nil || p.Status != status || p.Detail == "" || r.Header.Get("Content-Type") != "application/problem+json" {
			d.Errorf("%s: no problem of RFC 9457: %s %s", what, r.Header.Get("Content-Type"), r.body)
		}
	}
	if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("Cache-Control") != "no-store" || !strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		d.Errorf("%s: headers %v", what, r.Header)
	}
}
