package testenv

import (
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// gate is a listener that can stop listening without being closed.
type gate struct {
	net.Listener
	mu      sync.Mutex
	shut    chan struct{} // closed when it opens again; nil: it is open
	fillers []net.Conn
}

// Accept holds back who comes while the gate is shut.
func (g *gate) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
	return c, err
}

// backlog is how many connections may wait to be accepted.
func (g *gate) backlog(t testing.TB, n int) {
	t.Helper()
	raw, err := g.Listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = syscall.Listen(int(fd), n) }); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}

// Cut makes the proxies unreachable: who connects gets no answer, as behind a cable that
// was pulled. Nobody accepts, and the queue of each listener is full.
func (f *Farm) Cut(t testing.TB) {
	t.Helper()
	var all sync.WaitGroup
	limit := make(chan struct{}, 200)
	for _, g := range f.gates {
		g.mu.Lock()
		g.shut = make(chan struct{})
		g.mu.Unlock()
		g.backlog(t, 0)
		all.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			for range 2 { // one is taken by the Accept under way, one waits
				if c, err := net.DialTimeout("tcp", g.Addr().String(), 100*time.Millisecond); err == nil {
					g.fillers = append(g.fillers, c)
				}
			}
		})
	}
	all.Wait()
}

// Mend undoes Cut.
func (f *Farm) Mend(t testing.TB) {
	t.Helper()
	for _, g := range f.gates {
		g.backlog(t, 4096)
		for _, c := range g.fillers {
			c.Close()
		}
		g.mu.Lock()
		close(g.shut)
		g.shut, g.fillers = nil, nil
		g.mu.Unlock()
	}
}

// Close ends the first n proxies for good: connections to them are refused.
func (f *Farm) Close(n int) {
	for _, g := range f.gates[:n] {
		g.Listener.Close()
	}
}

// open lets everybody go when the test ends.
func (f *Farm) open() {
	for _, g := range f.gates {
		g.mu.Lock()
		if g.shut != nil {
			close(g.shut)
			g.shut = nil
		}
		for _, c := range g.fillers {
			c.Close()
		}
		g.mu.Unlock()
	}
}
