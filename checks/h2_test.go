package checks_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

func TestHTTP2SendsABodyWithinTheWindows(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s got %d, agent %s", r.Proto, n, r.UserAgent())
	}))
	s := secure(t, site, site.HTTPS("/"))
	s.Steps[0].Request.Method, s.Steps[0].Request.Body = "POST", strings.Repeat("x", 3<<20)
	s.Steps[0].Expect = checks.Expect{BodyContains: []string{fmt.Sprintf("HTTP/2.0 got %d, agent proxyward", 3<<20)}}
	want(t, run(t, s, zoo.ForwardProxy(t, zoo.Options{}).URL("http", "")), "pass")
}
