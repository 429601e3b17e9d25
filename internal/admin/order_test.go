package admin

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"proxyward/internal/operate"
	"proxyward/store"
)

// Bodies that stall take all the room there is, and only for as long as any request may take.
func TestABodyThatStallsIsCutOff(t *testing.T) {
	const within = time.Second
	d := serve(t, func(o *Options) { o.within = within })
	began := time.Now()
	var all []net.Conn
	for range parallel {
		all = append(all, stall(d, "POST /api/v1/checks/c/recheck"))
	}
	for _, c := range all {
		c.SetReadDeadline(began.Add(within + 10*time.Second))
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusRequestTimeout {
			t.Fatalf("%d, want 408", resp.StatusCode)
		}
	}
	if took := time.Since(began); took < within {
		t.Errorf("all were cut off within %v already", took)
	}
	d.is("afterwards", d.ask("GET", "/metrics", ""), 200, "a_metric")
}

// An order may take longer than its request.
func TestAnOrderOutlivesTheRequestTime(t *testing.T) {
	const within = 300 * time.Millisecond
	d := serve(t)
	slow := work{"recheck", true, recheck.do}
	slow.do = func(ctx context.Context, p *store.Pool, o *order, ids []string) ([]operate.Outcome, error) {
		select {
		case <-ctx.Done():
		case <-time.After(3 * within):
		}
		return nil, ctx.Err()
	}
	mux := http.NewServeMux()
	mux.Handle("POST /{check}", d.order(slow))
	server := httptest.NewUnstartedServer(mux)
	server.Config.ReadTimeout, server.Config.WriteTimeout = within, within
	server.Start()
	defer server.Close()
	resp, err := http.Post(server.URL+"/c", "application/json", strings.NewReader(`{"all": true}`))
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != 200 {
		t.Errorf("%d, want 200", resp.StatusCode)
	}
}

func TestTheLogTellsWhatAnOrderWasFor(t *testing.T) {
	core, told := observer.New(zapcore.InfoLevel)
	d := serve(t, func(o *Options) { o.Log = zap.New(core) })
	ids := d.enroll(12)
	d.ask("POST", "/api/v1/checks/c/disable", `{"endpoints": ["http://ann:canarypassword@10.0.0.1:80", "`+ids[1]+`"], "note": "canarynote"}`)
	d.ask("POST", "/api/v1/checks/c/recheck", `{"all": true}`)
	lines := told.FilterMessage("admin: an operator's order").All()
	if len(lines) != 2 {
		t.Fatal(lines)
	}
	for i, want := range []string{"[http://ann@10.0.0.1:80 " + ids[1] + "] true", fmt.Sprint(ids[:10]) + " false"} {
		f := lines[i].ContextMap()
		if got := fmt.Sprint(f["endpoints"], " ", f["note"]); i == 0 && got != want || i == 1 && (len(f["endpoints"].([]any)) != 10 || f["note"] != false) {
			t.Errorf("%s, want %s", got, want)
		}
		if strings.Contains(fmt.Sprint(f), "canary") {
			t.Errorf("it tells a secret: %v", f)
		}
	}
}
