package zoo

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// Name is the host name of the zoo's targets. Its proxies take every name to loopback.
const Name = "target.test"

// Page is what a good target answers to everything that is not special.
const Page = "<html>the catalogue</html>\n"

// Site is a good target: one server for http, one for https.
type Site struct {
	CA         *CA
	Plain, TLS *Server
	mu         sync.Mutex
	seen       []http.Header
}

// Target starts a good target. handler nil: it answers Page to everything; with a handler
// it answers that. HTTP/2 is offered on its https side.
func Target(t TB, handler http.Handler) *Site { return targetAt(t, "127.0.0.1:0", handler) }

// Target6 is Target at ::1.
func Target6(t TB, handler http.Handler) *Site { return targetAt(t, loopback6, handler) }

func targetAt(t TB, addr string, handler http.Handler) *Site {
	t.Helper()
	s := &Site{CA: NewCA(t, "zoo CA")}
	if handler == nil {
		handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, Page)
		})
	}
	record := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Header.Clone())
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	})
	s.Plain = serveHTTP(t, addr, record, nil)
	cfg := s.CA.ServerTLS(t, Name, "*."+Name, "localhost", "127.0.0.1", "::1")
	cfg.NextProtos = []string{"h2", "http/1.1"}
	s.TLS = serveHTTP(t, addr, record, cfg)
	return s
}

// Headers are those of the requests that have come, in order.
func (s *Site) Headers() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]http.Header(nil), s.seen...)
}

// HTTP and HTTPS are URLs of the target, by name; path begins with a slash.
func (s *Site) HTTP(path string) string {
	return fmt.Sprintf("http://%s:%d%s", Name, s.Plain.Addr.Port(), path)
}

// HTTPS is the https URL of path.
func (s *Site) HTTPS(path string) string {
	return fmt.Sprintf("https://%s:%d%s", Name, s.TLS.Addr.Port(), path)
}

// serveHTTP runs net/http on a listener that counts its connections.
func serveHTTP(t TB, addr string, h http.Handler, cfg *tls.Config) *Server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	s := &Server{l: l, Addr: l.Addr().(*net.TCPAddr).AddrPort(), open: map[net.Conn]bool{}}
	srv := &http.Server{Handler: h, ErrorLog: quiet, ReadTimeout: maxLife, WriteTimeout: maxLife}
	counting := &countingListener{Listener: l, s: s}
	s.wg.Go(func() {
		if cfg != nil {
			srv.TLSConfig = cfg
			srv.ServeTLS(counting, "", "")
			return
		}
		srv.Serve(counting)
	})
	t.Cleanup(func() {
		srv.Close()
		s.wg.Wait()
	})
	return s
}

type countingListener struct {
	net.Listener
	s *Server
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.s.accepted.Add(1)
		l.s.mu.Lock()
		l.s.sources = append(l.s.sources, c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap())
		l.s.mu.Unlock()
	}
	return c, err
}
