package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
)

// listener is systemd's end of the notification socket.
func listener(t *testing.T) (said chan string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	said = make(chan string, 1000)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := l.Read(buf)
			if err != nil {
				return
			}
			said <- string(buf[:n])
		}
	}()
	return said
}

func TestTheWatchdogIsFedWhileTheSchedulerWorks(t *testing.T) {
	said := listener(t)
	t.Setenv("WATCHDOG_USEC", "300000")
	t.Setenv("WATCHDOG_PID", fmt.Sprint(os.Getpid()))
	var stuck atomic.Bool
	n := newNotifier(nil, nil, zap.NewNop(), func() time.Duration { return 25 * time.Second })
	n.stuck = stuck.Load
	stopping, stop := context.WithCancel(t.Context())
	over, done := make(chan struct{}), make(chan struct{})
	go func() { n.feed(stopping.Done(), over); close(done) }()
	next := func(what string) {
		t.Helper()
		select {
		case got := <-said:
			if !strings.Contains(got, what) {
				t.Fatalf("said %q, not %q", got, what)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("never said %q", what)
		}
	}
	next("WATCHDOG=1")
	stop()
	for got := ""; !strings.Contains(got, "STOPPING=1"); {
		if got = <-said; strings.Contains(got, "STOPPING=1") && !strings.Contains(got, "EXTEND_TIMEOUT_USEC=25000000") {
			t.Errorf("the stop asks for no time: %q", got)
		}
	}
	next("WATCHDOG=1") // while it drains
	stuck.Store(true)
	time.Sleep(200 * time.Millisecond) // what was on its way
	for len(said) > 0 {
		<-said
	}
	time.Sleep(600 * time.Millisecond) // twice the limit
	if len(said) > 0 {
		t.Errorf("a stuck scheduler said %q", <-said)
	}
	close(over)
	<-done
}

// Before Redis has answered a reload must not say READY.
func TestAReloadBeforeReadySaysNothing(t *testing.T) {
	said := listener(t)
	n := newNotifier(nil, nil, zap.NewNop(), nil)
	n.reloading(func() bool { return true })
	if len(said) > 0 {
		t.Errorf("said %q", <-said)
	}
	n.ready.Store(true)
	n.reloading(func() bool { return false })
	for _, want := range []string{"RELOADING=1\nMONOTONIC_USEC=", "READY=1"} {
		select {
		case got := <-said:
			if !strings.HasPrefix(got, want) {
				t.Errorf("said %q, not %q", got, want)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("never said %q", want)
		}
	}
	if !n.refused.Load() {
		t.Error("the status does not know of the refusal")
	}
}
