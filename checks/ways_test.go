package checks_test

import (
	"strings"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/checks/verdict"
	"proxyward/internal/zoo"
)

// Every way in to every kind of target, with and without a login.
func TestEveryWayInReachesEveryKindOfTarget(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	ca := zoo.NewCA(t, "proxy CA")
	tlsProxy := ca.ServerTLS(t, "localhost", "127.0.0.1")
	caFile := ca.File(t, t.TempDir())
	login := zoo.Options{User: "ann", Password: "p@ss:w/rd%é"}
	open, locked := zoo.ForwardProxy(t, zoo.Options{}), zoo.ForwardProxy(t, login)
	socks, socksLogin := zoo.SOCKS(t, zoo.Options{}), zoo.SOCKS(t, login)
	login.TLS = tlsProxy
	secured, securedLogin := zoo.ForwardProxy(t, zoo.Options{TLS: tlsProxy}), zoo.ForwardProxy(t, login)
	const userinfo = "ann:p%40ss%3Aw%2Frd%25%C3%A9"
	ways := map[string]string{
		"http": open.URL("http", ""), "http with login": locked.URL("http", userinfo), "http, login not wanted": open.URL("http", "a:b"),
		"https": secured.URL("https", ""), "https with login": securedLogin.URL("https", userinfo),
		"socks5h": socks.URL("socks5h", ""), "socks5h with login": socksLogin.URL("socks5h", userinfo), "socks5h, login not wanted": socks.URL("socks5h", "a:b"),
		"socks4a": socks.URL("socks4a", ""), "socks4a with user": socks.URL("socks4a", "ann"),
		"socks5": socks.URL("socks5", ""), "socks4": socks.URL("socks4", ""),
	}
	for name, proxy := range ways {
		for _, url := range []string{site.HTTP("/"), site.HTTPS("/")} {
			if strings.HasPrefix(proxy, "socks5:") || strings.HasPrefix(proxy, "socks4:") {
				url = strings.Replace(url, zoo.Name, "localhost", 1)
			}
			scheme, _, _ := strings.Cut(url, ":")
			for _, h2 := range []string{"never", "auto", "require"} {
				if scheme == "http" && h2 != "never" {
					continue
				}
				t.Run(name+" to "+scheme+" h2 "+h2, func(t *testing.T) {
					s := secure(t, site, url)
					s.Steps[0].Request.HTTP2 = h2
					s.Steps[0].Request.ProxyTLS.CAFile = caFile
					s.Steps[0].Expect.BodyContains = []string{"catalogue"}
					v := run(t, s, proxy)
					want(t, v, "pass")
					if v.Status != 200 || v.Bytes != int64(len(zoo.Page)) {
						t.Errorf("status %d, %d bytes", v.Status, v.Bytes)
					}
					if _, ok := v.Timings[verdict.Tunnel]; ok != (scheme == "https" || strings.HasPrefix(proxy, "socks")) {
						t.Errorf("timings %v", v.Timings)
					}
				})
			}
		}
	}
	for _, s := range []*zoo.Server{site.Plain, site.TLS} {
		for _, a := range s.Sources() {
			if a.String() != zoo.ProxySource {
				t.Fatalf("the target was reached from %s, not through a proxy", a)
			}
		}
	}
	for _, h := range site.Headers() {
		if h.Get("Proxy-Authorization") != "" {
			t.Fatal("credentials reached the target")
		}
	}
}

func TestWrongLoginIsTheCredentialsFault(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	o := zoo.Options{User: "ann", Password: "secret"}
	web, socks := zoo.ForwardProxy(t, o), zoo.SOCKS(t, o)
	for _, url := range []string{site.HTTP("/"), site.HTTPS("/")} {
		want(t, run(t, request(url), web.URL("http", "")), "proxy_auth auth_required credentials")
		want(t, run(t, request(url), web.URL("http", "ann:wrong")), "proxy_auth auth_rejected credentials")
		want(t, run(t, request(url), socks.URL("socks5h", "")), "proxy_auth auth_required credentials")
		want(t, run(t, request(url), socks.URL("socks5h", "ann:wrong")), "proxy_auth auth_rejected credentials")
		want(t, run(t, request(url), socks.URL("socks4a", "bob")), "proxy_auth auth_rejected credentials")
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	addr := zoo.Refused(t).String()
	for _, scheme := range []string{"http", "https", "socks4", "socks5h"} {
		want(t, run(t, request("http://127.0.0.1/"), scheme+"://"+addr), "connect refused proxy")
	}
}

func TestProxyThatDoesOnlyHalf(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	tunnels, forwards := zoo.ForwardProxy(t, zoo.Options{Only: "CONNECT"}), zoo.ForwardProxy(t, zoo.Options{Only: "GET"})
	want(t, run(t, secure(t, site, site.HTTPS("/")), tunnels.URL("http", "")), "pass")
	want(t, run(t, request(site.HTTP("/")), tunnels.URL("http", "")), "tunnel method_unsupported proxy")
	want(t, run(t, request(site.HTTP("/")), forwards.URL("http", "")), "pass")
	want(t, run(t, request(site.HTTPS("/")), forwards.URL("http", "")), "tunnel method_unsupported proxy")
	narrow := zoo.ForwardProxy(t, zoo.Options{Ports: []string{"443"}})
	want(t, run(t, request(site.HTTPS("/")), narrow.URL("http", "")), "tunnel forbidden proxy")
}

func TestTargetNotReached(t *testing.T) {
	t.Parallel()
	gone := zoo.Refused(t)
	web, socks := zoo.ForwardProxy(t, zoo.Options{}), zoo.SOCKS(t, zoo.Options{})
	for _, scheme := range []string{"http://", "https://"} {
		url := scheme + gone.String() + "/"
		want(t, run(t, request(url), web.URL("http", "")), "tunnel upstream_refused target")
		want(t, run(t, request(url), socks.URL("socks5h", "")), "tunnel upstream_refused target")
		want(t, run(t, request(url), socks.URL("socks4a", "")), "tunnel upstream_error target")
		want(t, run(t, request(scheme+"nowhere.invalid/"), web.URL("http", "")), "tunnel upstream_dns target")
	}
}

// One probe that is slow or fails leaves every other verdict as it is.
func TestOneBadProxyHurtsNoOther(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	good := zoo.ForwardProxy(t, zoo.Options{})
	bad := []*zoo.Server{zoo.Serve(t, zoo.Silent), zoo.Serve(t, zoo.ResetAtOnce), zoo.Serve(t, zoo.Flood("HTTP/1.1 200 OK\r\n\r\n", "x", 0))}
	c := compile(t, hurriedBut(site.HTTP("/")))
	verdicts := make(chan string)
	for i := range 40 {
		p := good
		if i%2 == 0 {
			p = bad[i/2%len(bad)]
		}
		go func() {
			v := c.Run(t.Context(), mustParse(t, p.URL("http", "")), checks.RunOptions{})
			if p == good {
				verdicts <- says(v)
				return
			}
			verdicts <- ""
		}()
	}
	for range 40 {
		if v := <-verdicts; v != "" && v != "pass" {
			t.Error(v)
		}
	}
}

// hurriedBut leaves good peers time enough on a busy machine.
func hurriedBut(url string) checks.Spec {
	s := hurried(url)
	s.Steps[0].Request.Timeout, s.Steps[0].Request.Timeouts = 2*time.Second, checks.Timeouts{}
	return s
}
