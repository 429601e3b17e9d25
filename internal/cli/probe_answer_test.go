package cli

import (
	"strings"
	"testing"

	"proxyward/checks"
	"proxyward/checks/verdict"
)

func TestWhatThePeerReallyAnswered(t *testing.T) {
	got := func(stage verdict.Stage, text string) checks.Trace {
		return checks.Trace{Stage: stage, Kind: "got", Text: text}
	}
	one := result{trace: []checks.Trace{
		{Stage: verdict.Tunnel, Kind: "sent", Text: "CONNECT shop.example:443 HTTP/1.1"},
		got(verdict.Tunnel, "Via: before any answer"),
		got(verdict.Tunnel, "HTTP/1.1 200 OK"), got(verdict.Tunnel, "via: 1.1 a"), got(verdict.Tunnel, "X-Other: 1"),
		got(verdict.Headers, "HTTP/1.1 503 x"), got(verdict.Headers, "Retry-After: 5"), got(verdict.Body, "Server: in the body"),
	}}
	want := "HTTP/1.1 200 OK\n  via: 1.1 a\nHTTP/1.1 503 x\n  Retry-After: 5"
	if text := strings.Join(answers(one), "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
