package checks

import (
	"context"
	"net"
	"testing"
	"time"

	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
)

// What had arrived before a deadline counts, even if we had no time to read it by then: the
// wait was ours.
func TestWhatArrivedInTimeIsReadAfterTheDeadline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, 1024)
		c.Read(b)
		c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
		c.Read(b)
	}()
	c, err := Compile(Spec{Steps: []Step{{Request: Request{URL: "http://target.test/", Timeouts: Timeouts{FirstByte: 50 * time.Millisecond}}}}})
	if err != nil {
		t.Fatal(err)
	}
	ep, err := endpoint.New("http", "", "", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// The trace is told on the probe's own goroutine: holding it up is as if no processor
	// were free.
	o := RunOptions{Trace: func(e Trace) {
		if e.Stage == verdict.Headers && e.Kind == "begin" {
			time.Sleep(100 * time.Millisecond)
		}
	}}
	if v := c.Run(context.Background(), ep, o); !v.Passed {
		t.Errorf("%+v", v)
	}
}

// Where nothing had arrived, but we noticed the deadline far too late, nobody can say that
// the peer was slow.
func TestTimeoutNoticedTooLateIsOurs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Compile(Spec{Steps: []Step{{Request: Request{URL: "http://target.test/", Timeouts: Timeouts{FirstByte: 20 * time.Millisecond}}}}})
	if err != nil {
		t.Fatal(err)
	}
	ep, err := endpoint.New("http", "", "", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	o := RunOptions{Trace: func(e Trace) {
		if e.Stage == verdict.Headers && e.Kind == "begin" {
			time.Sleep(overslept + 50*time.Millisecond)
		}
	}}
	if v := c.Run(context.Background(), ep, o); v.Blame != verdict.Local || v.Stage != verdict.Headers {
		t.Errorf("%+v", v)
	}
}
