package e2e_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"proxyward/internal/zoo"
)

// page is what a good answer of the target contains.
const page = "the catalogue"

// target is a site on loopback, http and https, with a CA of its own. What it does follows
// from the path; Become makes every path behave like one.
type target struct {
	CAFile      string
	HTTP, HTTPS string // without a path
	asked       atomic.Int64
	as          atomic.Value // string; empty: the request's own path
	site        *zoo.Site
}

func newTarget(t *testing.T) *target {
	t.Helper()
	x := &target{}
	x.as.Store("")
	x.site = zoo.Target(t, http.HandlerFunc(x.serve))
	x.CAFile = x.site.CA.File(t, t.TempDir())
	x.HTTP, x.HTTPS = "http://"+x.site.Plain.Addr.String(), "https://"+x.site.TLS.Addr.String()
	return x
}

// Become makes all paths answer like this one; empty: each as itself.
func (x *target) Become(path string) { x.as.Store(path) }

func (x *target) serve(w http.ResponseWriter, r *http.Request) {
	x.asked.Add(1)
	path := x.as.Load().(string)
	if path == "" {
		path = r.URL.Path
	}
	switch path {
	case "/good":
		fmt.Fprintf(w, "<html>%s</html>", page)
	case "/503":
		http.Error(w, "closed for repairs", http.StatusServiceUnavailable)
	case "/403":
		http.Error(w, "not you", http.StatusForbidden)
	case "/slow": // a byte every so often
		w.Header().Set("Content-Length", "1000")
		for range 1000 {
			if _, err := fmt.Fprint(w, "."); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			if !rest(r, 50*time.Millisecond) {
				return
			}
		}
	case "/late": // a good page after a while
		if rest(r, time.Second) {
			fmt.Fprintf(w, "<html>%s</html>", page)
		}
	case "/silent":
		rest(r, time.Minute)
	case "/redirect":
		http.Redirect(w, r, "/good", http.StatusFound)
	default:
		http.NotFound(w, r)
	}
}

// rest waits; false: the client has gone.
func rest(r *http.Request, d time.Duration) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}
