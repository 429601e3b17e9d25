package zoo

import (
	"crypto/tls"
	"io"
	"net"
	"time"
)

// tlsFault is a TLS server of which something is wrong, or only strange.
type tlsFault struct {
	name          string
	config        func(t TB, ca *CA, host string) *tls.Config
	proxy, target string // what a probe says of a proxy and of a target like this; empty: left out
}

func oneLeaf(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }

// changed is a good server with one thing different.
func changed(change func(*tls.Config)) func(TB, *CA, string) *tls.Config {
	return func(t TB, ca *CA, host string) *tls.Config {
		c := ca.ServerTLS(t, host)
		change(c)
		return c
	}
}

func alertInstead(code uint8) func(TB, *CA, string) *tls.Config {
	return func(TB, *CA, string) *tls.Config {
		return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, tls.AlertError(code) }}
	}
}

var tlsFaults = []tlsFault{
	{"untrusted", func(t TB, ca *CA, host string) *tls.Config {
		return oneLeaf(NewCA(t, "Totally Legit CA").Leaf(t, time.Hour, host))
	},
		"proxy_tls cert_untrusted proxy", "target_tls cert_untrusted proxy"},
	{"untrusted, by a CA of the same name", func(t TB, ca *CA, host string) *tls.Config {
		return oneLeaf(NewCA(t, "zoo CA").Leaf(t, time.Hour, host))
	},
		"proxy_tls cert_untrusted proxy", "target_tls cert_untrusted proxy"},
	{"expired", func(t TB, ca *CA, host string) *tls.Config { return oneLeaf(ca.Leaf(t, -time.Hour, host)) },
		"proxy_tls cert_expired proxy", "target_tls cert_expired target"},
	{"for another name", func(t TB, ca *CA, host string) *tls.Config { return oneLeaf(ca.Leaf(t, time.Hour, "other.example")) },
		"proxy_tls cert_hostname proxy", "target_tls cert_hostname target"},
	{"for a name that only begins like it", func(t TB, ca *CA, host string) *tls.Config { return oneLeaf(ca.Leaf(t, time.Hour, host+".example")) },
		"proxy_tls cert_hostname proxy", "target_tls cert_hostname target"},
	{"expired and untrusted", func(t TB, ca *CA, host string) *tls.Config { return oneLeaf(NewCA(t, "x").Leaf(t, -time.Hour, host)) },
		"proxy_tls cert_untrusted proxy", "target_tls cert_untrusted proxy"},
	{"untrusted for another name", func(t TB, ca *CA, host string) *tls.Config {
		return oneLeaf(NewCA(t, "x").Leaf(t, time.Hour, "other.example"))
	},
		"proxy_tls cert_untrusted proxy", "target_tls cert_untrusted proxy"},
	{"TLS 1.1", changed(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }),
		"proxy_tls tls_version proxy", "target_tls tls_version target"},
	{"a client certificate wanted", changed(func(c *tls.Config) { c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12 }),
		"proxy_tls tls_alert proxy", "target_tls tls_alert target"},
	{"a client certificate wanted, TLS 1.3", changed(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }), // told after the handshake
		"proxy_tls tls_alert proxy", "target_tls tls_alert target"},
	{"knows no such name", alertInstead(112), "proxy_tls tls_alert proxy", "target_tls tls_alert target"},
	{"an internal error", alertInstead(80), "proxy_tls tls_alert proxy", "target_tls tls_alert target"},
	{"X25519 alone", changed(func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.X25519} }), "", pass},
	{"P-384 alone", changed(func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.CurveP384} }), "", pass},
	{"TLS 1.2 alone", changed(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), "", pass},
}

// TargetTLS are targets behind a good proxy whose handshake fails, or is only strange.
func TargetTLS() []Behaviour {
	var list []Behaviour
	for _, f := range tlsFaults {
		list = append(list, Behaviour{Family: "TLS to the target", Name: f.name, TLS: f.config, Serve: ok("Content-Length: 0\r\n", ""),
			Target: true, Proxy: "http", URL: connects, Want: f.target})
	}
	return append(list,
		Behaviour{Family: "TLS to the target", Name: "no HTTP/2 where it is required", TLS: changed(func(*tls.Config) {}), Serve: ok("", ""),
			Target: true, Proxy: "http", URL: connects, Asks: Asked{HTTP2: "require"}, Want: "target_tls protocol_mismatch target"},
		Behaviour{Family: "TLS to the target", Name: "TLS 1.2 where 1.3 is required", TLS: changed(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }),
			Serve: ok("", ""), Target: true, Proxy: "http", URL: connects, Asks: Asked{MinTLS: "1.3"}, Want: "target_tls tls_version target"})
}

// ProxyTLS are proxies that speak TLS to their clients, badly.
func ProxyTLS() []Behaviour {
	list := family("TLS to the proxy", connects, []row{
		{"plain HTTP behind https", Write("HTTP/1.1 400 Bad Request\r\n\r\n"), "https", "proxy_tls not_tls proxy"},
		{"close in the handshake", Dialogue(HangUp, ""), "https", "proxy_tls eof proxy"},
		{"reset in the handshake", Dialogue(ResetAtOnce, ""), "https", "proxy_tls reset proxy"},
		{"garbage in a record", Dialogue(nil, "\x16\x03\x03\x00\x04\x63\x00\x00\x00"), "https", "proxy_tls malformed proxy"},
		{"SSH", Write("SSH-2.0-OpenSSH_9.2\r\n"), "https", "proxy_tls not_tls proxy"},
		{"SOCKS5", Write("\x05\xff"), "https", "proxy_tls not_tls proxy"},
		{"reset before the handshake", ResetAtOnce, "https", "proxy_tls reset proxy"},
	})
	for _, f := range tlsFaults {
		if f.proxy != "" {
			list = append(list, Behaviour{Family: "TLS to the proxy", Name: f.name, TLS: f.config, Serve: Silent, Proxy: "https", URL: connects, Want: f.proxy})
		}
	}
	return list
}

// Tunnels are granted, and then something else than the target is in them.
func Tunnels() []Behaviour {
	return append(family("tunnels", connects, []row{
		{"closed at the ClientHello", GrantThen(true, HangUp), "http", "target_tls eof proxy"},
		{"reset at the ClientHello", GrantThen(true, ResetAtOnce), "http", "target_tls reset proxy"},
		{"a page instead of TLS", GrantThen(true, Write("HTTP/1.1 200 OK\r\n\r\n<html>login</html>")), "http", "target_tls not_tls proxy"},
		{"a page in one packet with the grant", Say("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n<html>login</html>"), "http", "target_tls not_tls proxy"},
		{"SOCKS: closed at the ClientHello", Dialogue(Listen, hello5, grant5), "socks5h", "target_tls eof proxy"},
		{"the tunnel says goodbye in TLS", GrantThen(true, Write("\x15\x03\x03\x00\x02\x01\x00")), "http", "target_tls eof proxy"},
		{"chunks of a page, as announced", Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "http", "target_tls not_tls proxy"},
		{"two bytes that are no TLS, and a close", GrantThen(true, Write("no")), "http", "target_tls not_tls proxy"},
		{"our own hello comes back", GrantThen(false, func(c net.Conn) { io.Copy(c, c) }), "http", "target_tls malformed unknown"},
		{"SSH at the end of the tunnel", GrantThen(false, Write("SSH-2.0-OpenSSH_9.2\r\n")), "http", "target_tls not_tls proxy"},
		{"an alert", GrantThen(true, Write("\x15\x03\x03\x00\x02\x02\x28")), "http", "target_tls tls_alert target"},
		{"an alert that bytes were lost", GrantThen(true, Write("\x15\x03\x03\x00\x02\x02\x0a")), "http", "target_tls tls_alert proxy"},
		{"an alert that bytes were changed", GrantThen(true, Write("\x15\x03\x03\x00\x02\x02\x32")), "http", "target_tls tls_alert proxy"},
		{"a broken handshake", GrantThen(true, Write("\x16\x03\x03\x00\x04\x63\x00\x00\x00")), "http", "target_tls malformed unknown"},
		{"an alert that it knows no such name", GrantThen(true, Write("\x15\x03\x03\x00\x02\x02\x70")), "http", "target_tls tls_alert target"},
	}), family("tunnels", "https://SITE/", []row{
		{"the first byte is lost", LoseFirst(1), "http", "target_tls eof proxy"},
		{"the first two bytes are lost", LoseFirst(2), "http", "target_tls eof proxy"},
		{"the first seven bytes are lost", LoseFirst(7), "http", "target_tls eof proxy"},
	})...)
}
