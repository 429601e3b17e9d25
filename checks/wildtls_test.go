package checks_test

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

// badTLS are servers whose handshake fails, by name.
func badTLS(t *testing.T, ca *zoo.CA, host string) map[string]*tls.Config {
	one := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	other := zoo.NewCA(t, "Totally Legit CA")
	old := ca.ServerTLS(t, host)
	old.MaxVersion = tls.VersionTLS11
	old.MinVersion = tls.VersionTLS10
	curve := ca.ServerTLS(t, host)
	curve.CurvePreferences = []tls.CurveID{tls.X25519}
	wants := ca.ServerTLS(t, host)
	wants.ClientAuth = tls.RequireAnyClientCert
	wants.MaxVersion = tls.VersionTLS12 // in 1.3 the alert comes only after the handshake
	late := ca.ServerTLS(t, host)
	late.ClientAuth = tls.RequireAnyClientCert
	alert := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, tls.AlertError(112) }}
	return map[string]*tls.Config{
		"untrusted": one(other.Leaf(t, time.Hour, host)), "expired": one(ca.Leaf(t, -time.Hour, host)), "hostname": one(ca.Leaf(t, time.Hour, "other.example")),
		"expired and untrusted": one(other.Leaf(t, -time.Hour, host)), "untrusted for another name": one(other.Leaf(t, time.Hour, "other.example")),
		"TLS 1.1": old, "X25519 alone": curve, "client certificate": wants, "client certificate, TLS 1.3": late,
		"no certificate": alert,
	}
}

func TestTLSToTheTargetFails(t *testing.T) {
	t.Parallel()
	ca := zoo.NewCA(t, "zoo CA")
	proxy := zoo.ForwardProxy(t, zoo.Options{})
	caFile := ca.File(t, t.TempDir())
	expected := map[string]string{
		"untrusted": "target_tls cert_untrusted proxy", "expired": "target_tls cert_expired target", "hostname": "target_tls cert_hostname target",
		"expired and untrusted": "target_tls cert_untrusted proxy", "untrusted for another name": "target_tls cert_untrusted proxy",
		"TLS 1.1": "target_tls tls_version target", "X25519 alone": "pass", "client certificate": "target_tls tls_alert target",
		"no certificate": "target_tls tls_alert target", "client certificate, TLS 1.3": "target_tls tls_alert target",
	}
	for name, cfg := range badTLS(t, ca, zoo.Name) {
		t.Run(name, func(t *testing.T) {
			s := zoo.ServeTLS(t, cfg, zoo.Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
			spec := request(s.URL("https", ""))
			spec.Steps[0].Request.URL = strings.Replace(spec.Steps[0].Request.URL, "127.0.0.1", zoo.Name, 1)
			spec.Steps[0].Request.TLS.CAFile = caFile
			want(t, run(t, spec, proxy.URL("http", "")), expected[name])
		})
	}
}

func TestTLSToTheProxyFails(t *testing.T) {
	t.Parallel()
	ca := zoo.NewCA(t, "proxy CA")
	caFile := ca.File(t, t.TempDir())
	spec := func(s checks.Spec) checks.Spec {
		s.Steps[0].Request.ProxyTLS.CAFile = caFile
		return s
	}
	expected := map[string]string{
		"untrusted": "cert_untrusted", "expired": "cert_expired", "hostname": "cert_hostname", "expired and untrusted": "cert_untrusted",
		"untrusted for another name": "cert_untrusted", "TLS 1.1": "tls_version", "client certificate": "tls_alert", "no certificate": "tls_alert",
		"client certificate, TLS 1.3": "tls_alert",
	}
	for name, cfg := range badTLS(t, ca, "127.0.0.1") {
		if expected[name] == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := zoo.ServeTLS(t, cfg, zoo.Silent)
			want(t, run(t, spec(request("https://target.test/")), s.URL("https", "")), "proxy_tls "+expected[name]+" proxy")
		})
	}
	each(t, spec(request("https://target.test/")), []behaviour{
		{"plain HTTP behind https", zoo.Write("HTTP/1.1 400 Bad Request\r\n\r\n"), "https", "proxy_tls not_tls proxy"},
		{"close in the handshake", zoo.Dialogue(zoo.HangUp, ""), "https", "proxy_tls eof proxy"},
		{"reset in the handshake", zoo.Dialogue(zoo.ResetAtOnce, ""), "https", "proxy_tls reset proxy"},
		{"garbage in a record", zoo.Dialogue(nil, "\x16\x03\x03\x00\x04\x63\x00\x00\x00"), "https", "proxy_tls malformed proxy"},
	})
	each(t, spec(hurried("https://target.test/")), []behaviour{
		{"silent", zoo.Silent, "https", "proxy_tls timeout proxy"},
		{"a byte now and then", zoo.Drip("\x16\x03\x03\x10\x00"+strings.Repeat("\x02", 100), pace), "https", "proxy_tls timeout proxy"},
	})
}

func TestTunnelGrantedAndThen(t *testing.T) {
	t.Parallel()
	each(t, request("https://target.test/"), []behaviour{
		{"closed at the ClientHello", zoo.GrantThen(true, zoo.HangUp), "http", "target_tls eof proxy"},
		{"reset at the ClientHello", zoo.GrantThen(true, zoo.ResetAtOnce), "http", "target_tls reset proxy"},
		{"a page instead of TLS", zoo.GrantThen(true, zoo.Write("HTTP/1.1 200 OK\r\n\r\n<html>login</html>")), "http", "target_tls not_tls proxy"},
		{"a page in one packet with the grant", zoo.Say("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n<html>login</html>"), "http", "target_tls not_tls proxy"},
		{"SOCKS: closed at the ClientHello", zoo.Dialogue(zoo.Listen, hello5, grant5), "socks5h", "target_tls eof proxy"},
		{"an alert", zoo.GrantThen(true, zoo.Write("\x15\x03\x03\x00\x02\x02\x28")), "http", "target_tls tls_alert target"},
		{"an alert that bytes were lost", zoo.GrantThen(true, zoo.Write("\x15\x03\x03\x00\x02\x02\x0a")), "http", "target_tls tls_alert proxy"},
		{"an alert that bytes were changed", zoo.GrantThen(true, zoo.Write("\x15\x03\x03\x00\x02\x02\x32")), "http", "target_tls tls_alert proxy"},
		{"a broken handshake", zoo.GrantThen(true, zoo.Write("\x16\x03\x03\x00\x04\x63\x00\x00\x00")), "http", "target_tls malformed unknown"},
	})
	each(t, hurried("https://target.test/"), []behaviour{
		{"silent", zoo.GrantThen(true, zoo.Silent), "http", "target_tls timeout unknown"},
		{"a byte now and then", zoo.GrantThen(false, zoo.Drip("\x16\x03\x03\x10\x00"+strings.Repeat("\x02", 100), pace)), "http", "target_tls timeout proxy"},
	})
}

func TestProxyThatLosesTheFirstByte(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	for _, n := range []int{1, 2, 7} {
		want(t, run(t, secure(t, site, site.HTTPS("/")), zoo.Serve(t, zoo.LoseFirst(n)).URL("http", "")), "target_tls eof proxy")
	}
}

func TestHTTP2Required(t *testing.T) {
	t.Parallel()
	ca := zoo.NewCA(t, "zoo CA")
	s := zoo.ServeTLS(t, ca.ServerTLS(t, zoo.Name), zoo.Say("HTTP/1.1 200 OK\r\n\r\n"))
	spec := request(strings.Replace(s.URL("https", ""), "127.0.0.1", zoo.Name, 1))
	spec.Steps[0].Request.TLS.CAFile = ca.File(t, t.TempDir())
	spec.Steps[0].Request.HTTP2 = "require"
	want(t, run(t, spec, zoo.ForwardProxy(t, zoo.Options{}).URL("http", "")), "target_tls protocol_mismatch target")
}

// Verification is remembered, not weakened: after a good certificate has been seen, others
// for the same name are judged as if it had not.
func TestRememberedChainTrustsNobodyElse(t *testing.T) {
	t.Parallel()
	ca, other := zoo.NewCA(t, "zoo CA"), zoo.NewCA(t, "other")
	certs := []tls.Certificate{ca.Leaf(t, time.Hour, zoo.Name), other.Leaf(t, time.Hour, zoo.Name), ca.Leaf(t, -time.Hour, zoo.Name), ca.Leaf(t, time.Hour, zoo.Name)}
	n := 0
	cfg := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { n++; return &certs[(n-1)%len(certs)], nil }}
	s := zoo.ServeTLS(t, cfg, zoo.Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	for _, resume := range []bool{false, true} {
		n = 0
		spec := request(strings.Replace(s.URL("https", ""), "127.0.0.1", zoo.Name, 1))
		spec.Steps[0].Request.TLS = checks.TLS{CAFile: ca.File(t, t.TempDir()), Resume: resume}
		cfg.SessionTicketsDisabled = true
		c := compile(t, spec)
		proxy := mustParse(t, zoo.ForwardProxy(t, zoo.Options{}).URL("http", ""))
		for _, expected := range []string{"pass", "target_tls cert_untrusted proxy", "target_tls cert_expired target", "pass", "pass"} {
			want(t, c.Run(t.Context(), proxy, checks.RunOptions{}), expected)
		}
	}
}

func TestResumption(t *testing.T) {
	t.Parallel()
	ca := zoo.NewCA(t, "zoo CA")
	resumed := 0
	cfg := ca.ServerTLS(t, zoo.Name)
	cfg.VerifyConnection = func(s tls.ConnectionState) error {
		if s.DidResume {
			resumed++
		}
		return nil
	}
	s := zoo.ServeTLS(t, cfg, zoo.Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	spec := request(strings.Replace(s.URL("https", ""), "127.0.0.1", zoo.Name, 1))
	spec.Steps[0].Request.TLS = checks.TLS{CAFile: ca.File(t, t.TempDir()), Resume: true}
	c := compile(t, spec)
	proxy := mustParse(t, zoo.ForwardProxy(t, zoo.Options{}).URL("http", ""))
	for range 3 {
		want(t, c.Run(t.Context(), proxy, checks.RunOptions{}), "pass")
	}
	if resumed != 2 {
		t.Errorf("%d of 2 resumed", resumed)
	}
}
