package checks_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

// shop is a target with redirects, a login and a page behind it.
func shop(t *testing.T) *zoo.Site {
	mux := http.NewServeMux()
	to := func(path, where string, code int) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, where, code) })
	}
	to("/moved", "/page", http.StatusMovedPermanently)
	to("/twice", "/moved", http.StatusFound)
	to("/loop", "/loop", http.StatusFound)
	to("/ping", "/pong", http.StatusFound)
	to("/pong", "/ping", http.StatusFound)
	to("/away", "http://elsewhere.example/", http.StatusFound)
	to("/nowhere", "gopher://x/", http.StatusFound)
	to("/see", "/method", http.StatusSeeOther)
	to("/keep", "/method", http.StatusTemporaryRedirect)
	mux.HandleFunc("/deeper/", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x/", http.StatusFound) })
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "the catalogue") })
	mux.HandleFunc("/method", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "method "+r.Method) })
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: r.FormValue("user"), Path: "/"})
		fmt.Fprint(w, "welcome")
	})
	mux.HandleFunc("/account", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("session")
		if err != nil {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "new", Path: "/"})
			http.Redirect(w, r, "/account", http.StatusFound)
			return
		}
		if n := len(r.Header["Cookie"]); n != 1 {
			fmt.Fprintf(w, "%d cookie lines ", n)
			return
		}
		fmt.Fprint(w, "account of "+c.Value)
	})
	return zoo.Target(t, mux)
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	site := shop(t)
	proxy := zoo.ForwardProxy(t, zoo.Options{})
	for _, c := range []struct {
		path   string
		follow int
		body   string
		want   string // for http; https differs in blame only
	}{
		{"/moved", 0, "", "verify redirected target"},
		{"/moved", 1, "catalogue", "pass"},
		{"/twice", 2, "catalogue", "pass"},
		{"/twice", 1, "catalogue", "verify redirect_loop target"},
		{"/loop", 9, "", "verify redirect_loop target"},
		{"/ping", 9, "", "verify redirect_loop target"},
		{"/deeper/", 5, "", "verify redirect_loop target"},
		{"/away", 5, "", "verify redirected target"},
		{"/nowhere", 5, "", "verify redirected target"},
		{"/account", 5, "account of new", "pass"}, // sets a cookie and comes back: no loop
		{"/see", 5, "method GET", "pass"},
		{"/keep", 5, "method POST", "pass"},
	} {
		for _, url := range []string{site.HTTPS(c.path), site.HTTP(c.path)} {
			t.Run(url[:5]+c.path, func(t *testing.T) {
				s := secure(t, site, url)
				s.Steps[0].Request.FollowRedirects = c.follow
				if c.path == "/see" || c.path == "/keep" {
					s.Steps[0].Request.Method, s.Steps[0].Request.Body = "POST", "x=y"
				}
				if c.body != "" {
					s.Steps[0].Expect.BodyContains = []string{c.body}
				}
				expected := c.want
				if url[:5] == "http:" && (c.path == "/away" || c.path == "/nowhere") {
					expected = "verify redirected unknown"
				}
				want(t, run(t, s, proxy.URL("http", "")), expected)
			})
		}
	}
}

func TestRedirectToAListedOriginTakesNoSecretsAlong(t *testing.T) {
	t.Parallel()
	other := zoo.Target(t, nil)
	site := zoo.Target(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.HTTP("/x"), http.StatusFound) }))
	s := request(site.HTTP("/"))
	s.Steps[0].Request.FollowRedirects = 1
	s.Steps[0].Request.RedirectTo = []string{fmt.Sprintf("http://%s:%d", zoo.Name, other.Plain.Addr.Port())}
	s.Steps[0].Request.Headers = map[string]string{"Authorization": "Bearer canary", "X-Api-Key": "canary", "Accept": "text/html"}
	want(t, run(t, s, zoo.ForwardProxy(t, zoo.Options{}).URL("http", "")), "pass")
	for _, h := range other.Headers() {
		if strings.Contains(fmt.Sprint(h), "canary") || h.Get("Accept") != "text/html" {
			t.Errorf("%v", h)
		}
	}
}

func TestStepsShareOneCookieJar(t *testing.T) {
	t.Parallel()
	site := shop(t)
	proxy := zoo.ForwardProxy(t, zoo.Options{}).URL("http", "")
	steps := []checks.Step{
		{Name: "login", Request: checks.Request{URL: site.HTTP("/login"), Method: "POST", Body: "user={nonce}", Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}},
			Expect: checks.Expect{BodyContains: []string{"welcome"}}},
		{Name: "account", Request: checks.Request{URL: site.HTTP("/account"), Headers: map[string]string{"Cookie": "own=1"}}, Expect: checks.Expect{BodyContains: []string{"account of {nonce}"}}},
	}
	c := compile(t, checks.Spec{Name: "shop", Steps: steps})
	if c.Timeout() != 30*time.Second {
		t.Errorf("timeout %s", c.Timeout())
	}
	for range 2 {
		want(t, c.Run(t.Context(), mustParse(t, proxy), checks.RunOptions{}), "pass")
	}
}

func TestRetryAfterOfWhoeverSaysIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		headers string
		want    time.Duration
	}{
		{"Retry-After: 120", 2 * time.Minute},
		{"Retry-After:  7 ", 7 * time.Second},
		{"Retry-After: 99999999999999999999", 24 * time.Hour},
		{"Date: Mon, 02 Jan 2006 15:04:05 GMT\r\nRetry-After: Mon, 02 Jan 2006 15:06:05 GMT", 2 * time.Minute},
		{"Date: Mon, 02 Jan 2006 15:04:05 GMT\r\nRetry-After: Monday, 02-Jan-06 15:06:05 GMT", 2 * time.Minute},
		{"Retry-After: Mon, 02 Jan 2006 15:06:05 GMT", 0},
		{"Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", 24 * time.Hour},
		{"Retry-After: soon", 0},
		{"Retry-After: -5", 0},
		{"X: y", 0},
	} {
		p := zoo.Serve(t, zoo.Say("HTTP/1.1 429 Too Many Requests\r\n"+c.headers+"\r\nContent-Length: 0\r\n\r\n"))
		for url, expected := range map[string]string{"https://target.test/": "tunnel rate_limited proxy", "http://target.test/": "verify rate_limited target"} {
			v := run(t, request(url), p.URL("http", ""))
			want(t, v, expected)
			if v.RetryAfter != c.want || v.Status != 429 {
				t.Errorf("%q: %s, status %d", c.headers, v.RetryAfter, v.Status)
			}
		}
	}
}

func TestCancelledProbeIsNobodysFault(t *testing.T) {
	t.Parallel()
	site := zoo.Serve(t, zoo.Silent)
	proxies := map[string]string{
		"tunnel local_error local":     zoo.Serve(t, zoo.Silent).URL("socks5h", ""),
		"headers local_error local":    zoo.Serve(t, zoo.Silent).URL("http", ""),
		"proxy_tls local_error local":  zoo.Serve(t, zoo.Silent).URL("https", ""),
		"target_tls local_error local": zoo.Serve(t, zoo.GrantThen(true, zoo.Silent)).URL("http", ""),
		"body local_error local":       zoo.Serve(t, zoo.SayAndHang("HTTP/1.1 200 OK\r\n\r\nx")).URL("http", ""),
	}
	for expected, proxy := range proxies {
		url := site.URL("http", "")
		if strings.HasPrefix(expected, "target_tls") {
			url = site.URL("https", "")
		}
		c := compile(t, request(url))
		for _, deadline := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			if deadline {
				ctx, cancel = context.WithTimeout(t.Context(), 150*time.Millisecond)
			} else {
				time.AfterFunc(150*time.Millisecond, cancel)
			}
			begin := time.Now()
			want(t, c.Run(ctx, mustParse(t, proxy), checks.RunOptions{}), expected)
			if took := time.Since(begin); took > 600*time.Millisecond {
				t.Errorf("took %s", took)
			}
			cancel()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v := compile(t, request(site.URL("http", ""))).Run(ctx, mustParse(t, site.URL("http", "")), checks.RunOptions{})
	if v.Blame != "local" {
		t.Errorf("%+v", v)
	}
}
