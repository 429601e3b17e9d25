package zoo

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// TB is what the zoo needs of a *testing.T; the demo brings its own.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// maxLife ends any connection of the zoo: nothing here outlives a test for long.
const maxLife = 30 * time.Second

// Server is one listener on 127.0.0.1 with a handler for each connection.
type Server struct {
	Addr netip.AddrPort

	l        net.Listener
	accepted atomic.Int64
	mu       sync.Mutex
	open     map[net.Conn]bool
	sources  []netip.Addr
	closed   bool
	wg       sync.WaitGroup
}

// Serve listens on a free loopback port and gives every connection to handle, on a goroutine
// of its own; when handle returns the connection is closed. All ends with the test.
func Serve(t TB, handle func(net.Conn)) *Server { return serveOn(t, "127.0.0.1:0", handle) }

const loopback6 = "[::1]:0"

func serveOn(t TB, addr string, handle func(net.Conn)) *Server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	s := &Server{l: l, Addr: l.Addr().(*net.TCPAddr).AddrPort(), open: map[net.Conn]bool{}}
	s.wg.Go(func() { s.accept(handle) })
	t.Cleanup(s.Close)
	return s
}

func (s *Server) accept(handle func(net.Conn)) {
	for {
		c, err := s.l.Accept()
		if err != nil {
			return
		}
		s.accepted.Add(1)
		if !s.add(c) {
			c.Close()
			return
		}
		c.SetDeadline(time.Now().Add(maxLife))
		s.wg.Go(func() {
			defer s.drop(c)
			handle(c)
		})
	}
}

func (s *Server) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.open[c] = true
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		s.sources = append(s.sources, a.AddrPort().Addr().Unmap())
	}
	return true
}

func (s *Server) drop(c net.Conn) {
	c.Close()
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
}

// Close stops listening, ends what is open and waits for the handlers.
func (s *Server) Close() {
	s.l.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// Accepted is how many connections have come.
func (s *Server) Accepted() int { return int(s.accepted.Load()) }

// Sources are the addresses that connections came from, in order.
func (s *Server) Sources() []netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]netip.Addr(nil), s.sources...)
}

// URL is the proxy URL of this server; userinfo is user:password, or empty.
func (s *Server) URL(scheme, userinfo string) string {
	if userinfo != "" {
		userinfo += "@"
	}
	return scheme + "://" + userinfo + s.Addr.String()
}

// Refused is an address where nobody listens.
func Refused(t TB) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// Reset closes a connection so that the peer sees a reset.
func Reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}
