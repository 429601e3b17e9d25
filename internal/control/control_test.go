package control_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"proxyward/checks"
	"proxyward/internal/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t *testing.T, url string) *checks.Check {
	t.Helper()
	c, err := checks.Compile(checks.Spec{Name: "c", Steps: []checks.Step{{
		Request: checks.Request{URL: url, Timeout: time.Second},
		Expect:  checks.Expect{BodyContains: []string{"catalogue"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheTargetIsAskedDirectly(t *testing.T) {
	status, wait := 200, make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-wait
		}
		w.WriteHeader(status)
		fmt.Fprint(w, "the catalogue")
	})
	plain, secure := httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer plain.Close()
	defer secure.Close()
	defer close(wait)
	ask := func(url string) string {
		v := control.Direct(t.Context(), check(t, url))
		return fmt.Sprintf("%v %s %s", v.Passed, v.Class(), v.Blame)
	}
	for _, c := range []struct{ what, url, want string }{
		{"a good answer", plain.URL, "true . "},
		{"a certificate nobody knows", secure.URL, "false target_tls.cert_untrusted target"},
		{"silence", plain.URL + "/silent", "false headers.timeout target"},
		{"nobody listens", "http://" + nobody(t), "false tunnel.upstream_refused target"},
	} {
		if got := ask(c.url); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	status = 503
	if got, want := ask(plain.URL), "false verify.http_status target"; got != want {
		t.Errorf("503: %s, want %s", got, want)
	}
}

// nobody is an address at which nothing listens.
func nobody(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
