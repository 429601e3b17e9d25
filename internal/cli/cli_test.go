package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"proxyward/internal/embedded"
)

// Script tests run this test binary again as `proxyward`.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"proxyward": func() { os.Exit(Main()) }})
}

const canary = "canary-Pa55"

// TestScripts runs testdata/*.txtar. Each finds in its environment REDIS, the URL of an
// empty Redis; SECURE, one that wants a password, both also as host:port in REDISADDR and SECUREADDR; FREE, an address where nothing listens;
// and proxies that answer every request themselves: GOOD, LOGIN (user joe, password
// canary-Pa55), ANGRY (status 500) and DEAD, all as host:port.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		Setup:               setup,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"fields": fields, "eventually": eventually, "nocanary": noCanary, "envsubst": substitute, "redis": rawRedis},
		RequireExplicitExec: true,
	})
}

func setup(e *testscript.Env) error {
	for name, login := range map[string]embedded.Login{"REDIS": {}, "SECURE": {Password: canary}} {
		server, err := embedded.Start("embedded://127.0.0.1:0", login)
		if err != nil {
			return err
		}
		e.Defer(server.Close)
		e.Setenv(name, server.URL())
		e.Setenv(name+"ADDR", server.Addr())
	}
	for name, answer := range map[string]http.HandlerFunc{"GOOD": answerGood, "LOGIN": answerLogin, "ANGRY": answerAngry} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &http.Server{Handler: answer}
		go server.Serve(l)
		e.Defer(func() { server.Close() })
		e.Setenv(name, l.Addr().String())
	}
	for _, name := range []string{"DEAD", "FREE"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		e.Setenv(name, l.Addr().String())
		l.Close()
	}
	e.Setenv("CANARY", canary)
	e.Setenv("GORACE", "atexit_sleep_ms=0") // else every process of a -race run waits a second at its end
	return nil
}

func answerGood(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "the page") }

func answerAngry(w http.ResponseWriter, _ *http.Request) { http.Error(w, "angry", 500) }

func answerLogin(w http.ResponseWriter, r *http.Request) {
	r.Header.Set("Authorization", r.Header.Get("Proxy-Authorization"))
	if user, password, _ := r.BasicAuth(); user != "joe" || password != canary {
		w.Header().Set("Proxy-Authenticate", `Basic realm="test"`)
		http.Error(w, "log in", http.StatusProxyAuthRequired)
		return
	}
	answerGood(w, r)
}

// silentProxy takes connections and says nothing until the test is over.
func silentProxy(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
