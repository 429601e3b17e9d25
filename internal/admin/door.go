package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
)

// handler is everything that is served, behind the door.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		mux.Handle(r.method+" "+r.path, s.bounded(r))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dress(w.Header())
		defer s.contain(w, r)
		if words := s.strange(r); words != "" {
			refuse(w, http.StatusForbidden, words)
			return
		}
		if !s.trusted(r) {
			s.refusals.tell(s.Log, r)
			w.Header().Set("WWW-Authenticate", `Bearer realm="proxyward"`)
			refuse(w, http.StatusUnauthorized, "send the token of admin.token_file: Authorization: Bearer TOKEN")
			return
		}
		body := r.Body
		defer io.CopyN(io.Discard, body, drained) // who still sends would see a reset, not the answer
		r.Body = http.MaxBytesReader(w, body, bodyBytes)
		if h, pattern := mux.Handler(r); pattern == "" {
			nowhere(w, r, h)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
				refuse(w, http.StatusUnsupportedMediaType, "send Content-Type: application/json")
				return
			}
		}
		mux.ServeHTTP(w, r)
	})
}

// dress sets the headers that every answer has.
func dress(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
}

// contain keeps an internal fault to one answer.
func (s *Server) contain(w http.ResponseWriter, r *http.Request) {
	v := recover()
	if v == nil || v == http.ErrAbortHandler {
		return
	}
	s.Log.Error("internal fault contained; please report it", zap.String("in", "admin"), zap.String("name", r.URL.Path),
		zap.String("panic", fmt.Sprintf("%T", v)), zap.ByteString("stack", debug.Stack()))
	refuse(w, http.StatusInternalServerError, "an internal fault: the log has more")
}

// strange says why a request looks as if a foreign web page had made it: its origin is
// another one, or the name by which it came here is not this machine's (DNS rebinding).
func (s *Server) strange(r *http.Request) string {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return "a page of another site may not ask here"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return "a page of another origin may not ask here"
		}
	}
	if !s.Beyond && !strings.HasPrefix(s.Listen, "unix:") && !isLoopback(r.Host) {
		return "this is served at a loopback address: ask for 127.0.0.1 or localhost, not for another name"
	}
	return ""
}

func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// open are the paths that need no token: they say yes or no, and nothing else.
var open = map[string]bool{"/healthz": true, "/readyz": true}

// trusted compares the token in constant time.
func (s *Server) trusted(r *http.Request) bool {
	a := s.access.Load()
	if !a.locked || open[r.URL.Path] {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimLeft(token, " ")))
	return subtle.ConstantTimeCompare(sum[:], a.token[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// refusals tells of requests without the token, once a minute at most.
type refusals struct {
	mu    sync.Mutex
	told  time.Time
	since int
}

func (f *refusals) tell(log *zap.Logger, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.since++; !f.told.IsZero() && time.Since(f.told) < time.Minute {
		return
	}
	log.Warn("admin: a request without the right token was refused", zap.String("from", r.RemoteAddr), zap.Int("since_last_told", f.since))
	f.told, f.since = time.Now(), 0
}

// bounded runs a route while there is room. What says whether the daemon is well always has
// some, and metrics have their own: neither reads a body, so no slow one is in their way.
func (s *Server) bounded(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if err := r.query(req); err != nil {
			s.fail(w, err)
			return
		}
		room := s.slots
		switch {
		case open[r.path]:
			r.serve(w, req)
			return
		case r.path == "/metrics":
			room = s.scrapes
		case r.stream:
			room = s.streams
		}
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
			r.serve(w, req)
		default:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d requests are being answered already: try again in a moment", cap(room)))
		}
	})
}

// nowhere answers what no route takes: 404, or 405 with what is allowed.
func nowhere(w http.ResponseWriter, r *http.Request, h http.Handler) {
	probe := &statusOnly{header: http.Header{}}
	h.ServeHTTP(probe, r)
	if allow := probe.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		refuse(w, http.StatusMethodNotAllowed, "this path takes "+allow)
		return
	}
	refuse(w, http.StatusNotFound, "no such path: /api/v1/openapi.json lists all")
}

// statusOnly hears what a handler would say.
type statusOnly struct{ header http.Header }

func (p *statusOnly) Header() http.Header         { return p.header }
func (p *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (p *statusOnly) WriteHeader(int)             {}
