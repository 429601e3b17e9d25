package embedded

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/alicebob/miniredis/v2"
)

// Server is a Redis in this process.
type Server struct {
	redis *miniredis.Miniredis
}

// Login is what clients must say; the zero value lets everyone in.
type Login struct {
	User     string // empty: the default user
	Password string // a secret
}

// Start listens where the embedded:// URL says. Stop it with Close.
func Start(rawURL string, login Login) (*Server, error) {
	addr, err := Address(rawURL)
	if err != nil {
		return nil, err
	}
	m := miniredis.NewMiniRedis()
	switch {
	case login.Password != "" && login.User != "":
		m.RequireUserAuth(login.User, login.Password)
	case login.Password != "":
		m.RequireAuth(login.Password)
	}
	if err := m.StartAddr(addr); err != nil {
		return nil, fmt.Errorf("start the embedded Redis at %s: %w", addr, mend(err))
	}
	m.ClockTTL(true)
	return &Server{m}, nil
}

// mend says what to do about an address that cannot be listened at.
func mend(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return errors.New("the address is in use: stop what listens there (perhaps another proxyward), " +
			"or take another port with embedded://127.0.0.1:PORT")
	case errors.Is(err, syscall.EACCES):
		return errors.New("this user may not listen there: take a port from 1024 on")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return errors.New("this machine has no such address: use embedded://127.0.0.1:PORT")
	}
	return err
}

// Addr is host:port as it really listens.
func (s *Server) Addr() string { return s.redis.Addr() }

// URL is where clients find it, without the login.
func (s *Server) URL() string { return "redis://" + s.Addr() + "/0" }

// Loopback reports whether only this machine reaches it.
func (s *Server) Loopback() bool {
	ip := net.ParseIP(s.redis.Host())
	return ip != nil && ip.IsLoopback()
}

// Close ends it and all it holds.
func (s *Server) Close() { s.redis.Close() }
