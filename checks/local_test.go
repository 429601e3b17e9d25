package checks_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

func TestOurOwnFaultsAreLocal(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM, syscall.EPERM, syscall.EACCES} {
		o := checks.RunOptions{Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", errno)}
		}}
		want(t, runWith(t, request("http://target.test/"), "http://127.0.0.1:9", o), "connect local_error local")
	}
	for errno, expected := range map[syscall.Errno]string{
		syscall.EHOSTUNREACH: "connect unreachable proxy", syscall.ENETUNREACH: "connect unreachable proxy",
		syscall.ETIMEDOUT: "connect timeout proxy", syscall.ECONNREFUSED: "connect refused proxy", syscall.ECONNRESET: "tunnel reset proxy",
	} {
		o := checks.RunOptions{Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			return nil, os.NewSyscallError("connect", errno)
		}}
		want(t, runWith(t, request("http://target.test/"), "http://127.0.0.1:9", o), expected)
	}
	want(t, run(t, request("http://target.test/"), "http://224.0.0.1:9"), "connect unreachable proxy")
	want(t, run(t, request("http://target.test/"), "http://255.255.255.255:9"), "connect unreachable proxy")
}

func TestNoRouteIsOurs(t *testing.T) {
	const inside = "PROXYWARD_TEST_NO_ROUTE"
	if os.Getenv(inside) != "" { // in a network namespace with no route at all
		want(t, run(t, hurried("http://target.test/"), "http://192.0.2.1:9"), "connect local_error local")
		return
	}
	again := exec.Command(os.Args[0], "-test.run=^TestNoRouteIsOurs$", "-test.v")
	again.Env = append(os.Environ(), inside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := again.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may make a network namespace; CI is root")
	}
	if err != nil || !strings.Contains(string(out), "PASS: TestNoRouteIsOurs") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A timeout over a gap in which this very process did not run proves nothing.
func TestTimeoutWhileWeSlept(t *testing.T) {
	p := zoo.Serve(t, zoo.Silent)
	asked := false
	o := checks.RunOptions{Stalled: func(from, to time.Time) bool { asked = to.After(from); return true }}
	want(t, runWith(t, hurried("http://target.test/"), p.URL("socks5h", ""), o), "tunnel local_error local")
	if !asked {
		t.Error("not asked")
	}
}

// What a peer sends never makes a probe keep descriptors or goroutines.
func TestDescriptorsAndGoroutinesComeBack(t *testing.T) {
	peers := []*zoo.Server{zoo.Serve(t, zoo.Silent), zoo.Serve(t, zoo.ResetAtOnce), zoo.Serve(t, zoo.Say("HTTP/1.1 407 x\r\n\r\n")), zoo.Serve(t, zoo.GrantThen(true, zoo.Silent))}
	before := openFiles(t)
	c := compile(t, hurried("https://target.test/"))
	done := make(chan bool)
	const n = 100
	for i := range n {
		go func() {
			c.Run(t.Context(), mustParse(t, peers[i%len(peers)].URL("http", "")), checks.RunOptions{})
			done <- true
		}()
	}
	for range n {
		<-done
	}
	for _, p := range peers {
		p.Close()
	}
	for range 100 {
		runtime.Gosched()
		if openFiles(t) <= before {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d descriptors before, %d after", before, openFiles(t))
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here")
	}
	return len(list)
}
