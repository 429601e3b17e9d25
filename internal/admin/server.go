package admin

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/net/netutil"

	"proxyward/internal/operate"
	"proxyward/store"
)

// Options are what the interface works with.
type Options struct {
	Listen  string // host:port, or unix: and a path
	Beyond  bool   // other machines can reach it: then it needs a token and a certificate
	Pprof   bool   // serve profiles; only with a token
	Access  Access
	Store   *store.Store
	Checks  func() operate.Configured // those in force
	Daemon  Daemon
	Metrics http.Handler
	Lists   *Lists
	Words   func(error) string // what is wrong with Redis, in a sentence; empty: something else is
	Log     *zap.Logger        // nil: none

	within time.Duration // for a request, header and body; 0: requestTime
}

// Access is who may ask.
type Access struct {
	Token       string           // empty: whoever reaches the socket
	Certificate *tls.Certificate // nil: no TLS
}

// Daemon is what is asked of the daemon itself.
type Daemon interface {
	Stuck() bool            // no tick was completed for far too long
	Heard() <-chan struct{} // closed once Redis has answered for the first time
}

const (
	headerBytes  = 64 << 10 // with a cursor, which is the longest of it
	bodyBytes    = 1 << 20
	drained      = 8 << 20          // of a body that is too large
	headerTime   = 5 * time.Second  // for the whole header
	requestTime  = 15 * time.Second // header and body
	answerTime   = 30 * time.Second
	idleTime     = 60 * time.Second
	readTime     = 10 * time.Second // what Redis is asked for one answer
	orderTime    = 2 * time.Minute  // an order may go through the whole pool
	connections  = 256
	parallel     = 64 // requests, without streams and scrapes
	streams      = 32
	scrapes      = 4
	stopPatience = 3 * time.Second
)

// Server serves the interface.
type Server struct {
	Options
	listener net.Listener
	remove   func() // takes the socket away
	access   atomic.Pointer[access]
	slots    chan struct{} // of requests
	streams  chan struct{} // of event streams
	scrapes  chan struct{} // of /metrics
	stopping atomic.Bool
	refusals refusals
}

// access is Access as it is compared.
type access struct {
	token  [sha256.Size]byte
	locked bool // there is a token
	cert   *tls.Certificate
}

// New listens, and serves nothing yet. Its errors say where, what and how to mend.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.within == 0 {
		o.within = requestTime
	}
	if o.Beyond && (o.Access.Token == "" || o.Access.Certificate == nil) {
		return nil, errors.New("admin.listen: " + o.Listen + " can be reached from other machines: set admin.token_file and admin.tls, or listen on 127.0.0.1:PORT or unix:/PATH")
	}
	s := &Server{Options: o, slots: make(chan struct{}, parallel), streams: make(chan struct{}, streams), scrapes: make(chan struct{}, scrapes)}
	s.admit(o.Access)
	var err error
	if s.listener, s.remove, err = listen(o.Listen); err != nil {
		return nil, err
	}
	return s, nil
}

// Addr is where it listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Renew replaces token and certificate. It never takes one of them away, nor begins to ask
// for TLS: what listens keeps what it has, and kept says so.
func (s *Server) Renew(a Access) (kept bool) {
	if now := s.access.Load(); now.locked && a.Token == "" || (now.cert == nil) != (a.Certificate == nil) {
		return true
	}
	s.admit(a)
	return false
}

func (s *Server) admit(a Access) {
	s.access.Store(&access{token: sha256.Sum256([]byte(a.Token)), locked: a.Token != "", cert: a.Certificate})
}

// Run serves until ctx ends, then lets answers under way finish for a moment.
func (s *Server) Run(ctx context.Context) {
	serving, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	h1 := new(http.Protocols)
	h1.SetHTTP1(true)
	server := &http.Server{Handler: s.handler(), Protocols: h1, MaxHeaderBytes: headerBytes - 4096, // net/http adds 4 KiB, and what was read ahead on a connection in use
		ReadHeaderTimeout: headerTime, ReadTimeout: s.within, WriteTimeout: answerTime, IdleTimeout: idleTime,
		BaseContext: func(net.Listener) context.Context { return serving },
		ErrorLog:    zap.NewStdLog(s.Log.WithOptions(zap.IncreaseLevel(zap.ErrorLevel)))}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(s.secure(netutil.LimitListener(s.listener, connections))); !errors.Is(err, http.ErrServerClosed) {
			s.Log.Error("the admin interface ended", zap.Error(err))
		}
	}()
	select {
	case <-ctx.Done():
	case <-ended:
	}
	cut() // streams end
	patience, enough := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer enough()
	if server.Shutdown(patience) != nil {
		server.Close()
	}
	<-ended
	s.remove()
}

// Stopping makes /readyz say so: the daemon takes no more work.
func (s *Server) Stopping() { s.stopping.Store(true) }

// Close takes back what New did, where Run is not called.
func (s *Server) Close() {
	s.listener.Close()
	s.remove()
}

// secure puts TLS around what listens, where there is a certificate.
func (s *Server) secure(l net.Listener) net.Listener {
	if s.access.Load().cert == nil {
		return l
	}
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.access.Load().cert, nil }})
}
