package checks_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

// Canaries in every place that may hold a secret: no output has them, whatever the peer
// sends back.
func TestNoOutputHoldsASecret(t *testing.T) {
	t.Parallel()
	const canary = "canary-7c1"
	encoded := base64.StdEncoding.EncodeToString([]byte("ann:" + canary + "-pw"))
	echo := "HTTP/1.1 %s\r\nX-Squid-Error: " + canary + "-pw " + canary + "-head\r\nServer: " + encoded + "\r\nVia: " + canary + "-query\r\nLocation: /?k=" + canary + "-query\r\nSet-Cookie: a=" + canary + "-jar\r\n\r\n" + canary
	site := zoo.Serve(t, zoo.Say(fmt.Sprintf(echo, "500 "+canary+"-head "+canary+"-query "+encoded)))
	for _, peer := range []zoo.Handler{
		zoo.Say(fmt.Sprintf(echo, "502 "+canary+"-pw")), zoo.Say(fmt.Sprintf(echo, "407 "+encoded)), zoo.Say(fmt.Sprintf(echo, "302 Found")),
		zoo.Say(canary + "-pw"), zoo.Grant("HTTP/1.1 200 OK\r\n\r\n", 0), zoo.Dialogue(nil, "\x05\x02", "\x01\x01"), zoo.SOCKS5In(grant5),
	} {
		p := zoo.Serve(t, peer)
		for _, scheme := range []string{"http", "socks5h"} {
			for _, url := range []string{site.URL("http", ""), "https://127.0.0.1:9"} {
				var all strings.Builder
				spec := request(url + "/?key=" + canary + "-query")
				spec.Steps[0].Request.Method = "POST"
				spec.Steps[0].Request.Body = canary + "-body"
				spec.Steps[0].Request.Headers = map[string]string{"Authorization": "Bearer " + canary + "-head", "Cookie": "a=" + canary + "-jar"}
				o := checks.RunOptions{Trace: func(e checks.Trace) { fmt.Fprintf(&all, "%+v\n", e) }}
				v := runWith(t, spec, p.URL(scheme, "ann:"+canary+"-pw"), o)
				fmt.Fprintf(&all, "%+v\n", v)
				for _, secret := range []string{canary + "-", encoded, "63616e617279"} {
					if strings.Contains(all.String(), secret) {
						t.Errorf("%s in:\n%s", secret, all.String())
					}
				}
			}
		}
	}
}

func TestDetailHasNoControlCharacters(t *testing.T) {
	t.Parallel()
	p := zoo.Serve(t, zoo.Say("HTTP/1.1 502 a\x1b[31m\x07b\u202ec\t"+strings.Repeat("é", 400)+"\r\n\r\n"))
	v := run(t, request("https://target.test/"), p.URL("http", ""))
	if strings.ContainsAny(v.Detail, "\x1b\x07\t\u202e") || !strings.Contains(v.Detail, "a[31mbc") || len(v.Detail) > 200 {
		t.Errorf("%q", v.Detail)
	}
}

func TestTraceShowsTheConversation(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	var kinds, all strings.Builder
	o := checks.RunOptions{Trace: func(e checks.Trace) {
		fmt.Fprintf(&kinds, "%s:%s ", e.Stage, e.Kind)
		fmt.Fprintln(&all, e.Text)
	}}
	want(t, runWith(t, secure(t, site, site.HTTPS("/?q=visible")), zoo.ForwardProxy(t, zoo.Options{}).URL("http", ""), o), "pass")
	for _, part := range []string{"CONNECT " + zoo.Name, "HTTP/1.1 200 Connection established", "TLS 1.3"} {
		if !strings.Contains(all.String(), part) {
			t.Errorf("no %q in:\n%s", part, all.String())
		}
	}
	if !strings.HasPrefix(kinds.String(), "connect:begin connect:note connect:end tunnel:begin tunnel:sent") {
		t.Error(kinds.String())
	}
}
