package checks_test

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

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
