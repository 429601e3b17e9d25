package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/zap"

	"proxyward/configs"
	"proxyward/internal/testenv"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/store"
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

func TestTheStatusSaysThatTheGuardIsOpen(t *testing.T) {
	st, err := store.Open(store.Address{URL: "redis://" + miniredis.RunT(t).Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	config, err := configs.Default(listFile(t, "127.0.0.1:1"), "http://target.example/")
	if err != nil {
		t.Fatal(err)
	}
	d := scheduler.NewDaemon(scheduler.Options{Store: st, Prober: prober.New(1), Checks: config.Checks})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	defer running.Wait()
	defer stop()
	<-d.Heard()
	n := newNotifier(d, st, zap.NewNop(), nil)
	is := func(pattern string) {
		t.Helper()
		if got := n.status(t.Context()); !regexp.MustCompile("^" + pattern + "$").MatchString(got) {
			t.Errorf("the status is %q, not %q", got, pattern)
		}
	}
	move := func(open bool) {
		t.Helper()
		if moved, _, err := st.Pool("default").MoveGuard(t.Context(), open, "a test", 0); err != nil || !moved {
			t.Fatal(moved, err)
		}
	}
	const pool = `default: 0 eligible, [01] cooling`
	is(pool)
	move(true)
	is(pool + ", guard open")
	n.refused.Store(true)
	is("the new configuration is refused, the old one stays; " + pool + ", guard open")
	n.refused.Store(false)
	move(false)
	is(pool)
	another := config.Checks[0]
	another.Fingerprint = "another"
	later := scheduler.NewDaemon(scheduler.Options{Store: st, Prober: prober.New(1), Checks: []scheduler.Check{another}})
	running.Go(func() { later.Run(ctx) })
	testenv.Eventually(t, 20*time.Second, "the status says that it stands by", func() bool {
		return strings.HasSuffix(n.status(t.Context()), ", standing by: another daemon's configuration counts")
	})
}
