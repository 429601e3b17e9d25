package checks

import (
	"context"
	"net"
	"testing"
	"time"

	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
)

// heldUp is the verdict of a probe with limit for its request and the answer, held up for
// that long at the begin of a stage. The trace is told on the probe's own goroutine: to sleep
// in it is as if no processor were free.
func heldUp(t *testing.T, answers bool, at verdict.Stage, limit, held time.Duration) verdict.Verdict {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if answers {
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
	}
	c, err := Compile(Spec{Steps: []Step{{Request: Request{URL: "http://target.test/", Timeouts: Timeouts{FirstByte: limit}}}}})
	if err != nil {
		t.Fatal(err)
	}
	ep, err := endpoint.New("http", "", "", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return c.Run(context.Background(), ep, RunOptions{Trace: func(e Trace) {
		if e.Stage == at && e.Kind == "begin" {
			time.Sleep(held)
		}
	}})
}

// What had arrived before a deadline counts, even if we had no time to read it by then: the
// wait was ours.
func TestWhatArrivedInTimeIsReadAfterTheDeadline(t *testing.T) {
	for _, held := range []time.Duration{55 * time.Millisecond, 100 * time.Millisecond} {
		if v := heldUp(t, true, verdict.Headers, 50*time.Millisecond, held); !v.Passed {
			t.Errorf("%+v", v)
		}
	}
}

// A deadline that has passed before we even tried to write is our own slowness too: the peer
// is there and takes what we send.
func TestWriteBehindTheDeadlineIsTried(t *testing.T) {
	if v := heldUp(t, true, verdict.Request, 50*time.Millisecond, 100*time.Millisecond); !v.Passed {
		t.Errorf("%+v", v)
	}
}

// Where nothing had arrived, but we noticed the deadline far too late, nobody can say that
// the peer was slow.
func TestTimeoutNoticedTooLateIsOurs(t *testing.T) {
	if v := heldUp(t, false, verdict.Headers, 20*time.Millisecond, overslept+50*time.Millisecond); v.Blame != verdict.Local || v.Stage != verdict.Headers {
		t.Errorf("%+v", v)
	}
}
