package checks_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/internal/zoo"
)

// heard runs a probe against a peer that only listens, and gives what it was sent first.
func heard(t *testing.T, spec checks.Spec, scheme, userinfo string, first ...string) string {
	t.Helper()
	var mu sync.Mutex
	var all []byte
	s := zoo.Serve(t, func(c net.Conn) {
		for _, reply := range append(first, "") {
			b := make([]byte, 8192)
			n, _ := c.Read(b)
			mu.Lock()
			all = append(all, b[:n]...)
			mu.Unlock()
			io.WriteString(c, reply)
		}
	})
	run(t, spec, s.URL(scheme, userinfo))
	mu.Lock()
	defer mu.Unlock()
	return string(all)
}

func TestWhatIsSent(t *testing.T) {
	spec := request("http://Bücher.example:8080/ä b?q=ü x#frag")
	spec.Steps[0].Request.Headers = map[string]string{"X-B": " two ", "user-agent": "me", "Host": "other.example"}
	for _, c := range []struct{ name, got, want string }{
		{"forward", heard(t, spec, "http", "ann:p%25%C3%A9"), "GET http://xn--bcher-kva.example:8080/%C3%A4%20b?q=%C3%BC%20x HTTP/1.1\r\nHost: other.example\r\nX-B: two\r\nuser-agent: me\r\nAccept: */*\r\nConnection: close\r\nProxy-Authorization: Basic YW5uOnAlw6k=\r\n\r\n"},
		{"only a user", heard(t, request("https://target.test/"), "http", "ann"), "CONNECT target.test:443 HTTP/1.1\r\nHost: target.test:443\r\nUser-Agent: proxyward\r\nProxy-Authorization: Basic YW5uOg==\r\n\r\n"},
		{"only a password", heard(t, request("https://target.test/"), "http", ":pw"), "CONNECT target.test:443 HTTP/1.1\r\nHost: target.test:443\r\nUser-Agent: proxyward\r\nProxy-Authorization: Basic OnB3\r\n\r\n"},
		{"CONNECT to IPv6", heard(t, request("https://[2001:db8:0::1]/"), "http", ""), "CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\nUser-Agent: proxyward\r\n\r\n"},
		{"origin form in a tunnel", heard(t, request("http://target.test/a"), "socks4a", "ann", "\x00\x5a\x00\x00\x00\x00\x00\x00"), "\x04\x01\x00\x50\x00\x00\x00\x01ann\x00target.test\x00GET /a HTTP/1.1\r\nHost: target.test\r\nUser-Agent: proxyward\r\nAccept: */*\r\nConnection: close\r\n\r\n"},
		{"SOCKS5 name", heard(t, request("http://target.test:81/"), "socks5h", "", hello5, "\x05\x01"), "\x05\x01\x00\x05\x01\x00\x03\x0btarget.test\x00\x51"},
		{"SOCKS5 IPv4", heard(t, request("http://1.2.3.4/"), "socks5h", "", hello5, "\x05\x01"), "\x05\x01\x00\x05\x01\x00\x01\x01\x02\x03\x04\x00\x50"},
		{"SOCKS5 IPv6", heard(t, request("http://[::2]/"), "socks5", "", hello5, "\x05\x01"), "\x05\x01\x00\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x02\x00\x50"},
		{"SOCKS5 login decoded", heard(t, request("http://1.2.3.4/"), "socks5h", "a%40:%25%C3%A9", "\x05\x02", "\x01\x01"), "\x05\x02\x00\x02\x01\x02a@\x03%é"},
		{"SOCKS5 empty password", heard(t, request("http://1.2.3.4/"), "socks5h", "a:", "\x05\x02", "\x01\x01"), "\x05\x02\x00\x02\x01\x01a\x00"},
		{"SOCKS4 address", heard(t, request("http://1.2.3.4/"), "socks4", "", "\x00\x5b"), "\x04\x01\x00\x50\x01\x02\x03\x04\x00"},
	} {
		if c.got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, c.got, c.want)
		}
	}
}

func TestProxySettingsOfTheEnvironmentAreNotRead(t *testing.T) {
	trap := zoo.Serve(t, zoo.Silent)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://"+trap.Addr.String())
	}
	site := zoo.Target(t, nil)
	want(t, run(t, secure(t, site, site.HTTPS("/")), zoo.ForwardProxy(t, zoo.Options{}).URL("http", "")), "pass")
	if trap.Accepted() > 0 {
		t.Error("the environment's proxy was asked")
	}
}

func TestEndpointWithControlCharacters(t *testing.T) {
	s := zoo.Serve(t, zoo.Silent)
	ep := endpoint.Endpoint{Scheme: "socks4a", User: "a\x00b", Host: "127.0.0.1", Port: s.Addr.Port()}
	v := compile(t, request("http://target.test/")).Run(t.Context(), ep, checks.RunOptions{})
	want(t, v, "resolve local_error local")
	if s.Accepted() > 0 {
		t.Error("it was dialled")
	}
}
