package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"proxyward/internal/embedded"
)

// command is one that runs in this process until it is told to end.
type command struct {
	t     *testing.T
	out   safeBuffer // both streams
	stop  context.CancelFunc
	ended chan int
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func start(t *testing.T, args ...string) *command {
	ctx, stop := context.WithCancel(context.Background())
	l := &command{t: t, stop: stop, ended: make(chan int, 1)}
	a := &app{in: strings.NewReader(""), out: &l.out, err: &l.out, getenv: func(string) string { return "" }}
	go func() { l.ended <- a.run(ctx, args) }()
	return l
}

// sees waits until the output matches.
func (l *command) sees(pattern string) {
	l.t.Helper()
	re := regexp.MustCompile(pattern)
	for until := time.Now().Add(30 * time.Second); !re.MatchString(l.out.String()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			l.t.Fatalf("no %q in:\n%s", pattern, l.out.String())
		}
	}
}

// end asks the command to end, as the first signal does, and returns its exit status.
func (l *command) end() int {
	l.t.Helper()
	l.stop()
	select {
	case code := <-l.ended:
		return code
	case <-time.After(30 * time.Second):
		l.t.Fatalf("it does not end; so far:\n%s", l.out.String())
		return 0
	}
}

func listFile(t *testing.T, lines ...string) string {
	file := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestADaemonWithoutRedisSaysSoOnceAndLives(t *testing.T) {
	server, err := embedded.Start("embedded://127.0.0.1:0", embedded.Login{Password: canary})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, c := range []struct{ name, redis, words string }{
		{"away", "redis://127.0.0.1:1/0", "start redis, or correct redis.url"},
		{"wrong password", "redis://:wrong-" + canary + "@" + server.Addr() + "/0", "correct redis.username and redis.password_file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := start(t, "run", "--list", listFile(t, "127.0.0.1:9"), "--target", "http://target.example/", "--redis", c.redis, "--log-level", "debug")
			l.sees(c.words)
			time.Sleep(1500 * time.Millisecond) // over more than one tick
			if n := strings.Count(l.out.String(), c.words); n != 1 {
				t.Errorf("told %d times:\n%s", n, l.out.String())
			}
			if code := l.end(); code != exitYes || !strings.Contains(l.out.String(), "daemon stopped") {
				t.Errorf("status %d:\n%s", code, l.out.String())
			}
			if strings.Contains(l.out.String(), canary) {
				t.Errorf("the password is told:\n%s", l.out.String())
			}
		})
	}
}

func TestADemoThatIsInterruptedEndsWell(t *testing.T) {
	defer goleak.VerifyNone(t)
	l := start(t, "demo", "--redis", "embedded://127.0.0.1:0")
	l.sees("is eligible")
	if code := l.end(); code != exitYes || !strings.Contains(l.out.String(), "demo over") {
		t.Errorf("status %d:\n%s", code, l.out.String())
	}
}

func TestProbesThatAreInterruptedAreSummedUp(t *testing.T) {
	silent := silentProxy(t)
	l := start(t, "probe", "--list", listFile(t, "127.0.0.1:1", silent), "--target", "http://target.example/")
	l.sees("failed .*connect.refused")
	if code := l.end(); code != exitNo {
		t.Errorf("status %d", code)
	}
	l.sees("1 of 2 endpoints probed")
	l.sees("proxyward: interrupted: 1 of 2 probed")
}

func TestASignalASecondAfterTheFirstEndsTheProcessAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals, over, cancelled, exited := make(chan os.Signal, 2), make(chan struct{}), 0, []int(nil)
		go watch(signals, over, func() { cancelled++ }, func(code int) { exited = append(exited, code) })
		send := func(s syscall.Signal, after time.Duration, codes ...int) {
			t.Helper()
			time.Sleep(after)
			signals <- s
			synctest.Wait()
			if cancelled != 1 || !slices.Equal(exited, codes) {
				t.Errorf("%v, %v later: cancelled %d times, exited with %v, want once and %v", s, after, cancelled, exited, codes)
			}
		}
		send(syscall.SIGTERM, 0)
		send(syscall.SIGTERM, 0)
		send(syscall.SIGTERM, 5*time.Millisecond)
		send(syscall.SIGINT, secondAfter-6*time.Millisecond)
		send(syscall.SIGINT, time.Millisecond, 130) // counted from the first, not from the last
		close(over)
	})
}
