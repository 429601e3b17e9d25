package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// daemon is a running `proxyward run`.
type daemon struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err *stream
	ended    chan struct{}
}

// stream keeps what a process writes.
type stream struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start runs the daemon until the test ends.
func start(t *testing.T, args ...string) *daemon {
	t.Helper()
	return startBy(t, (*exec.Cmd).Start, args...)
}

// startBy is start with another way to begin: with a clock of its own, or in a network.
func startBy(t *testing.T, begin func(*exec.Cmd) error, args ...string) *daemon {
	t.Helper()
	d := &daemon{t: t, cmd: exec.Command(binary, append([]string{"run"}, args...)...), out: &stream{}, err: &stream{}, ended: make(chan struct{})}
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = t.TempDir(), d.out, d.err
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := begin(d.cmd); err != nil {
		t.Fatal(err)
	}
	go func() { d.cmd.Wait(); close(d.ended) }()
	t.Cleanup(func() {
		d.kill()
		if strings.Contains(d.err.String(), "DATA RACE") {
			t.Error("the daemon has a data race")
		}
		if t.Failed() {
			t.Logf("%s said:\n%s%s", strings.Join(d.cmd.Args, " "), end(d.out.String()), end(d.err.String()))
		}
	})
	return d
}

// end is as much of the end as a reader wants to see.
func end(s string) string { return s[max(0, len(s)-3000):] }

func (d *daemon) signal(s syscall.Signal) { d.cmd.Process.Signal(s) }

// wait waits for the end and returns the exit status; -1 for an end by a signal.
func (d *daemon) wait(within time.Duration) int {
	d.t.Helper()
	select {
	case <-d.ended:
	case <-time.After(within):
		d.t.Fatalf("the daemon has not ended within %v", within)
	}
	return d.cmd.ProcessState.ExitCode()
}

// kill ends it at once, as kill -9 does.
func (d *daemon) kill() {
	d.signal(syscall.SIGKILL)
	<-d.ended
}

// alive reports whether it still runs.
func (d *daemon) alive() bool {
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

// file writes a file of the test's own.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// yaml writes a configuration; KEY in it is replaced by its value, for each pair.
func yaml(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	return file(t, "proxyward.yaml", strings.NewReplacer(pairs...).Replace(text))
}
