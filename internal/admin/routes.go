package admin

import (
	"context"
	_ "embed"
	"net/http"
	"net/http/pprof"
	"time"
)

// route is one thing that can be asked; openapi.json describes each but the profiles.
type route struct {
	method, path string
	serve        http.HandlerFunc
	stream       bool     // it goes on until somebody leaves
	asks         []string // its query's parameters; one that ends in … may come several times
}

// routes are all there are.
func (s *Server) routes() []route {
	all := []route{
		{"GET", "/healthz", s.healthz, false, nil},
		{"GET", "/readyz", s.readyz, false, nil},
		{"GET", "/metrics", s.Metrics.ServeHTTP, false, nil},
		{"GET", "/api/v1/openapi.json", s.openapi, false, nil},
		{"GET", "/api/v1/status", s.read(s.status), false, nil},
		{"GET", "/api/v1/checks", s.read(s.checks), false, nil},
		{"GET", "/api/v1/checks/{check}", s.read(s.check), false, nil},
		{"GET", "/api/v1/checks/{check}/endpoints", s.read(s.endpoints), false, []string{"state…", "source…", "host…", "reason…", "limit", "cursor"}},
		{"GET", "/api/v1/checks/{check}/explain", s.read(s.explain), false, []string{"endpoint"}},
		{"GET", "/api/v1/checks/{check}/guard", s.read(s.guard), false, nil},
		{"GET", "/api/v1/checks/{check}/sources", s.read(s.sources), false, nil},
		{"GET", "/api/v1/checks/{check}/events", s.read(s.history), false, []string{"limit", "before"}},
		{"GET", "/api/v1/events", s.events, true, []string{"check", "after"}},
		{"POST", "/api/v1/checks/{check}/recheck", s.order(recheck), false, nil},
		{"POST", "/api/v1/checks/{check}/disable", s.order(disable), false, nil},
		{"POST", "/api/v1/checks/{check}/enable", s.order(enable), false, nil},
		{"POST", "/api/v1/checks/{check}/forget", s.order(forget), false, nil},
	}
	if s.Pprof {
		all = append(all,
			route{"GET", "/debug/pprof/", pprof.Index, false, nil},
			route{"GET", "/debug/pprof/cmdline", pprof.Cmdline, false, nil},
			route{"GET", "/debug/pprof/profile", slow(pprof.Profile), false, nil},
			route{"GET", "/debug/pprof/symbol", pprof.Symbol, false, nil},
			route{"GET", "/debug/pprof/trace", slow(pprof.Trace), false, nil})
	}
	return all
}

// slow lets a profile take its time.
func slow(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		patient(w, orderTime)
		serve(w, r)
	}
}

// patient puts both deadlines of a connection off; past the one for reading net/http takes
// whoever waits for an answer for gone.
func patient(w http.ResponseWriter, d time.Duration) {
	c := http.NewResponseController(w)
	c.SetReadDeadline(time.Now().Add(d))
	c.SetWriteDeadline(time.Now().Add(d))
}

// read answers with a value that is read within readTime.
func (s *Server) read(value func(ctx context.Context, r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readTime)
		defer cancel()
		v, err := value(ctx, r)
		if err == nil {
			err = answer(w, v)
		}
		if err != nil {
			s.fail(w, err)
		}
	}
}

//go:embed openapi.json
var openapi []byte

func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(openapi)
}
