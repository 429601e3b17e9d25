package demo

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"proxyward/checks/endpoint"
)

// page is what the target answers; a portal's page does not have it.
const page = "This is the page of the proxyward demo's target.\n"

// stage is everything that plays: the target and the proxies, all on the loopback
// interface. The proxies lead to the target and nowhere else.
type stage struct {
	began    time.Time
	target   string // host:port
	repair   string // host:port of the target's maintenance page
	members  []member
	wait     sync.WaitGroup
	closers  []io.Closer
	mu       sync.Mutex
	open     map[net.Conn]bool // connections of the proxies, to end them
	shutting bool
}

// member is a part with the address where it plays.
type member struct {
	part
	endpoint endpoint.Endpoint // as our list has it
}

// raise starts the target and the cast in a play that began at a given time; Close ends them.
func raise(cast []part, began time.Time) (*stage, error) {
	s := &stage{began: began, open: map[net.Conn]bool{}}
	if err := s.raise(cast); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *stage) raise(cast []part) (err error) {
	if s.target, err = s.serve(http.StatusOK, page); err != nil {
		return err
	}
	if s.repair, err = s.serve(http.StatusServiceUnavailable, "The shop is closed for maintenance.\n"); err != nil {
		return err
	}
	for _, p := range cast {
		if err := s.enter(p); err != nil {
			return err
		}
	}
	return nil
}

func listen() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on the loopback interface: %w", err)
	}
	return l, nil
}

// serve answers every request with one page.
func (s *stage) serve(status int, body string) (addr string, err error) {
	l, err := listen()
	if err != nil {
		return "", err
	}
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		io.WriteString(w, body)
	})}
	s.closers = append(s.closers, server)
	s.wait.Go(func() { server.Serve(l) })
	return l.Addr().String(), nil
}

// enter gives a part an address and lets it play.
func (s *stage) enter(p part) error {
	l, err := listen()
	if err != nil {
		return err
	}
	password := p.password
	if p.gives != "" {
		password = p.gives
	}
	e, err := endpoint.New(p.scheme, p.user, password, l.Addr().String())
	if err != nil {
		return err
	}
	s.members = append(s.members, member{p, e})
	if p.moodAt(0) == absent {
		return l.Close()
	}
	s.closers = append(s.closers, l)
	s.wait.Go(func() { s.accept(l, p) })
	return nil
}

func (s *stage) accept(l net.Listener, p part) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if !s.admit(c) {
			return
		}
		s.wait.Go(func() {
			defer s.leave(c)
			s.play(c, p)
		})
	}
}

// admit remembers a connection, so that Close can end it.
func (s *stage) admit(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shutting {
		c.Close()
		return false
	}
	s.open[c] = true
	return true
}

func (s *stage) leave(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Close()
	delete(s.open, c)
}

// Close ends every listener and connection and waits for all that played.
func (s *stage) Close() {
	s.mu.Lock()
	s.shutting = true
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	for _, c := range s.closers {
		c.Close()
	}
	s.wait.Wait()
}
