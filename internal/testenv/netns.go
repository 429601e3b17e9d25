package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Network is a network namespace of its own: nothing outside sees it, and it is gone once
// nobody uses it.
type Network struct {
	Host string // its address on the cable to its peer

	calls chan func() // to the one thread of this process that is in it
	tid   int
	link  string // its end of the cable
	mac   string
	peer  *Network
}

// Networks makes two networks that are joined by a cable. It takes root and iproute2: for
// where they are absent see Program.
func Networks(t testing.TB) (a, b *Network) {
	t.Helper()
	ip := Program(t, "ip")
	if os.Getuid() != 0 {
		Missing(t, "a network namespace (it takes root)")
	}
	a, b = newNetwork(t, "10.77.0.1", "left"), newNetwork(t, "10.77.0.2", "right")
	a.peer, b.peer = b, a
	a.run(t, ip, "link", "add", a.link, "type", "veth", "peer", "name", b.link, "netns", fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), b.tid))
	for _, n := range []*Network{a, b} {
		n.run(t, ip, "addr", "add", n.Host+"/24", "dev", n.link)
		n.run(t, ip, "link", "set", "lo", "up")
		n.run(t, ip, "link", "set", n.link, "up")
		n.mac = strings.Fields(n.run(t, ip, "-brief", "link", "show", "dev", n.link))[2]
	}
	return a, b
}

func newNetwork(t testing.TB, host, link string) *Network {
	t.Helper()
	n := &Network{Host: host, link: link, calls: make(chan func())}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with this goroutine
		n.tid = syscall.Gettid()
		made <- syscall.Unshare(syscall.CLONE_NEWNET)
		for f := range n.calls {
			f()
		}
	}()
	t.Cleanup(func() { close(n.calls) })
	if err := <-made; err != nil {
		t.Fatalf("make a network namespace: %v", err)
	}
	return n
}

// Inside runs f in the network: what it listens on, dials and starts itself, not by way of
// another goroutine, belongs there.
func (n *Network) Inside(f func()) {
	done := make(chan struct{})
	n.calls <- func() { defer close(done); f() }
	<-done
}

// Begin starts a command in the network.
func (n *Network) Begin(cmd *exec.Cmd) (err error) {
	n.Inside(func() { err = cmd.Start() })
	return err
}

// run runs a program to its end in the network.
func (n *Network) run(t testing.TB, args ...string) string {
	t.Helper()
	var out []byte
	var err error
	n.Inside(func() { out, err = exec.Command(args[0], args[1:]...).CombinedOutput() })
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Lose makes all that this network sends to the other one get lost on the way; what the
// other one sends still comes. It goes to a hardware address that nobody has, so that the
// kernel needs no filter.
func (n *Network) Lose(t testing.TB) { t.Helper(); n.send(t, "02:00:00:00:00:77") }

// Heal lets what this network sends arrive again.
func (n *Network) Heal(t testing.TB) { t.Helper(); n.send(t, n.peer.mac) }

func (n *Network) send(t testing.TB, mac string) {
	t.Helper()
	n.run(t, Program(t, "ip"), "neigh", "replace", n.peer.Host, "lladdr", mac, "dev", n.link, "nud", "permanent")
}
