package checks_test

import (
	"fmt"
	"net/http"
	"testing"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

func TestNonceTellsAStoredCopy(t *testing.T) {
	t.Parallel()
	fresh := zoo.Target(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("X-Nonce"))
		fmt.Fprintf(w, "catalogue %s %s", r.URL.Query().Get("n"), r.Header.Get("X-Nonce"))
	}))
	proxy := zoo.ForwardProxy(t, zoo.Options{})
	spec := func(url string) checks.Spec {
		s := secure(t, fresh, url)
		s.Steps[0].Request.Headers = map[string]string{"X-Nonce": "h-{nonce}"}
		s.Steps[0].Expect = checks.Expect{BodyContains: []string{"catalogue {nonce} h-{nonce}"}, BodyMatches: "^catalogue {nonce} ", Headers: map[string]string{"X-Echo": "^h-{nonce}$"}}
		return s
	}
	want(t, run(t, spec(fresh.HTTP("/?n={nonce}")), proxy.URL("http", "")), "pass")
	want(t, run(t, spec(fresh.HTTPS("/?n={nonce}")), proxy.URL("http", "")), "pass")
}
