package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/internal/zoo"
)

// markup is a user name that would run in a browser, if anybody let it.
const markup = `<script>alert(1)</script>&"'`

// parrot is a proxy that repeats its client's credentials in a refusal, as HTML.
func parrot(t *testing.T) *zoo.Server {
	return zoo.Serve(t, func(c net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		said := r.Header.Get("Proxy-Authorization")
		fmt.Fprintf(c, "HTTP/1.1 407 <b>%s</b>\r\nProxy-Authenticate: Basic realm=\"<svg onload=alert(1)> %s\"\r\nX-Squid-Error: <i>ERR</i> 0\r\nVia: 1.1 <script>\r\nContent-Length: 0\r\n\r\n", said, said)
	})
}

func TestNoAnswerTellsASecretOrIsMarkup(t *testing.T) {
	t.Parallel()
	bad, proxy := parrot(t), newDoor(t)
	account := func(user, password, addr string) string {
		return (&url.URL{Scheme: "http", User: url.UserPassword(user, password), Host: addr}).String()
	}
	list := strings.Join([]string{account("ann", "canaryone", proxy.Addr), account(markup, "canary:/@%two", bad.Addr.String()), account("bob", "canarythree", bad.Addr.String())}, "\n") + "\n"
	redis := testenv.Redis(t, "--requirepass", "canaryredis")
	i := withAdmin(t, strings.Replace(redis, "//", "//:canaryredis@", 1), list, locked)
	secrets := canaries("canaryone", "canary:/@%two", "canarythree", "canaryredis", "canarytoken")
	paths := []string{"/healthz", "/readyz", "/metrics", "/api/v1/status", "/api/v1/checks", "/api/v1/checks/catalogue", "/api/v1/checks/catalogue/endpoints",
		"/api/v1/checks/catalogue/guard", "/api/v1/checks/catalogue/sources", "/api/v1/checks/catalogue/events?limit=1000", "/api/v1/openapi.json"}
	clean := func(where, text string) {
		t.Helper()
		for _, s := range secrets {
			if at := strings.Index(text, s); at >= 0 {
				t.Errorf("%s tells %q: …%.300s", where, s, text[max(0, at-150):])
			}
		}
		if strings.Contains(text, "<") && !strings.HasSuffix(where, "/metrics") && !strings.HasSuffix(where, "openapi.json") {
			t.Errorf("%s has markup in it: %.500s", where, text)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", i.base+"/api/v1/events?after=0", nil)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	told, lines := "", bufio.NewScanner(stream.Body)
	for strings.Count(told, `"to":"cooling"`) < 3 && lines.Scan() {
		told += lines.Text() + "\n"
	}
	if clean("the stream", told); !strings.Contains(told, "%3Cscript%3E") || strings.Count(told, `"to":"cooling"`) < 3 {
		t.Errorf("the stream: %s", told)
	}
	id := "http://" + strings.ReplaceAll(url.QueryEscape(markup), "+", "%20") + "@" + bad.Addr.String()
	for _, arg := range []string{id, account(markup, "canary:/@%two", bad.Addr.String()), account(markup, "canarythree", "192.0.2.1:1"), "http://canarythree@:", markup, bad.Addr.String()} {
		paths = append(paths, "/api/v1/checks/catalogue/explain?endpoint="+url.QueryEscape(arg))
		body, _ := json.Marshal(map[string]any{"endpoints": []string{arg}, "note": markup})
		for _, order := range []string{"disable", "enable", "recheck", "forget"} {
			_, text := i.ask("POST", "/api/v1/checks/catalogue/"+order, string(body))
			clean(order+" "+arg, text)
		}
	}
	paths = append(paths, "/api/v1/checks/%3Cscript%3E", "/%3Cscript%3E", "/api/v1/checks/catalogue/endpoints?state=%3Cscript%3E", "/api/v1/events?check=%3Cscript%3E")
	for _, path := range paths {
		_, text := i.ask("GET", path, "")
		clean(path, text)
	}
	if _, text := i.ask("GET", "/api/v1/checks/catalogue/endpoints", ""); !strings.Contains(text, `"endpoint":"http://ann@`+proxy.Addr) {
		t.Errorf("the endpoints are not there: %s", text)
	}
	i.signal(15)
	if i.wait(15*time.Second) != 0 {
		t.Error("it does not end well")
	}
	for where, text := range map[string]string{"the daemon on stdout": i.out.String(), "the daemon on stderr": i.err.String()} {
		for _, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("%s tells %q", where, s)
			}
		}
	}
}
