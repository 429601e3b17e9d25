package testenv

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Program finds an installed program, or skips the test; with PROXYWARD_REQUIRE set an
// absent one fails it.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		for _, dir := range []string{"", "/usr/sbin/", "/usr/local/sbin/"} {
			if path, err := exec.LookPath(dir + name); err == nil {
				return path
			}
		}
	}
	if os.Getenv("PROXYWARD_REQUIRE") != "" {
		t.Fatalf("%v is not installed, and PROXYWARD_REQUIRE is set", names)
	}
	t.Skipf("%v is not installed", names)
	return ""
}

// Start runs a program until the test ends; its output is shown when the test fails.
func Start(t testing.TB, path string, args ...string) *exec.Cmd {
	t.Helper()
	return StartBy(t, (*exec.Cmd).Start, path, args...)
}

// StartBy is Start with another way to begin: with a clock of its own, or in a network.
func StartBy(t testing.TB, begin func(*exec.Cmd) error, path string, args ...string) *exec.Cmd {
	t.Helper()
	out, err := os.Create(fmt.Sprintf("%s/output", t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := begin(cmd); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(3 * time.Second):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-done
		}
		if t.Failed() {
			text, _ := os.ReadFile(out.Name())
			t.Logf("%s said:\n%.4000s", path, text)
		}
		out.Close()
	})
	return cmd
}

// Port is a free TCP port on 127.0.0.1.
func Port(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// WaitTCP waits until something listens at addr.
func WaitTCP(t testing.TB, addr string) {
	t.Helper()
	Eventually(t, 15*time.Second, "nothing listens at "+addr, func() bool {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// Eventually waits until ok, and fails the test with what when it does not come true.
func Eventually(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}
