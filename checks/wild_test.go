package checks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

const pace = 10 * time.Millisecond

// case1 is one behaviour of a proxy: what it does, and what a probe must say of it.
type behaviour struct {
	name  string
	peer  zoo.Handler
	proxy string // scheme, or scheme://user:password@
	want  string
}

// each runs every behaviour as a proxy in front of url.
func each(t *testing.T, spec checks.Spec, list []behaviour) {
	t.Helper()
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			s := zoo.Serve(t, b.peer)
			scheme, userinfo, _ := strings.Cut(b.proxy, "://")
			want(t, run(t, spec, s.URL(scheme, strings.TrimSuffix(userinfo, "@"))), b.want)
		})
	}
}

func TestTunnelIsGrantedHoweverTheReplyIsWritten(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	for name, reply := range map[string]string{
		"HTTP/1.0 status line and nothing else":      "HTTP/1.0 200 Connection established\r\n\r\n",
		"Via and Proxy-Connection after the status":  "HTTP/1.1 200 Connection established\r\nVia: 1.1 x\r\nProxy-Connection: keep-alive\r\nProxy-Agent: y\r\n\r\n",
		"OK instead of Connection established":       "HTTP/1.1 200 OK\r\n\r\n",
		"another 2xx":                                "HTTP/1.1 204 No Content\r\n\r\n",
		"Content-Length 0":                           "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"a Content-Length that is not meant":         "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
		"Transfer-Encoding chunked":                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"Connection close":                           "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
		"status line ends after the digits":          "HTTP/1.1 200\r\n\r\n",
		"blank after the digits":                     "HTTP/1.1 200 \r\n\r\n",
		"lines end by LF alone":                      "HTTP/1.1 200 Connection established\nVia: x\n\n",
		"an odd minor version":                       "HTTP/1.2 200 OK\r\n\r\n",
		"HTTP/2.0 in text":                           "HTTP/2.0 200 OK\r\n\r\n",
		"lower case protocol":                        "http/1.1 200 ok\r\n\r\n",
		"a line that is no header":                   "HTTP/1.1 200 OK\r\nwhatever\r\n\r\n",
		"folded header":                              "HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\r\n",
		"interim 100 first":                          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
		"empty line first":                           "\r\nHTTP/1.1 200 OK\r\n\r\n",
		"non-ASCII reason phrase":                    "HTTP/1.1 200 Verbindung hergestellt \xe4\xf6\r\n\r\n",
		"Proxy-Authenticate although it is all well": "HTTP/1.1 200 OK\r\nProxy-Authenticate: NTLM\r\n\r\n",
	} {
		for _, n := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s in pieces of %d", name, n), func(t *testing.T) {
				want(t, run(t, secure(t, site, site.HTTPS("/")), zoo.Serve(t, zoo.Grant(reply, n)).URL("http", "")), "pass")
			})
		}
	}
}

// What a proxy can answer to CONNECT instead of a tunnel.
func TestConnectRefused(t *testing.T) {
	t.Parallel()
	page := func(status, headers, body string) zoo.Handler {
		return zoo.Say(fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, headers, len(body), body))
	}
	say := func(status string, headers ...string) zoo.Handler {
		return page(status, strings.Join(append(headers, ""), "\r\n"), "")
	}
	each(t, request("https://target.test/"), []behaviour{
		{"407 without credentials", say("407 Proxy Authentication Required", `Proxy-Authenticate: Basic realm="x"`), "http", "proxy_auth auth_required credentials"},
		{"407 with credentials", say("407 Proxy Authentication Required", `Proxy-Authenticate: Basic realm="x"`), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"407 that offers nothing", say("407 No"), "http", "proxy_auth auth_required credentials"},
		{"407 and a close without a length", zoo.Say("HTTP/1.0 407 Unauthorized\r\nProxy-Authenticate: Basic\r\n\r\nno"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"only NTLM and Negotiate", say("407 x", "Proxy-Authenticate: NTLM", "Proxy-Authenticate: Negotiate"), "http://a:b@", "proxy_auth auth_scheme_unsupported credentials"},
		{"only Digest", say("407 x", `Proxy-Authenticate: Digest realm="basic, x", nonce="Basic"`), "http://a:b@", "proxy_auth auth_scheme_unsupported credentials"},
		{"only Kerberos and no credentials", say("407 x", "Proxy-Authenticate: Negotiate"), "http", "proxy_auth auth_scheme_unsupported credentials"},
		{"Digest and Basic in one field", say("407 x", `Proxy-Authenticate: Digest realm="x", nonce="y", BASIC realm="z"`), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"401 instead of 407", say("401 Unauthorized"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"401 without credentials", say("401 Unauthorized", `WWW-Authenticate: Basic realm="x"`), "http", "proxy_auth auth_required credentials"},
		{"403 with a challenge", say("403 Forbidden", `Proxy-Authenticate: Basic realm="x"`), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"403 whose page speaks of the login", page("403 Forbidden", "", "Authentication failed: invalid username or password"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"511 of a network that wants a login", say("511 Network Authentication Required"), "http", "proxy_auth auth_required credentials"},
		{"403", say("403 Forbidden"), "http", "tunnel forbidden proxy"},
		{"403 with credentials", say("403 Forbidden"), "http://a:b@", "tunnel forbidden proxy"},
		{"403 Filtered", say("403 Filtered"), "http", "tunnel forbidden proxy"},
		{"402", say("402 Payment Required"), "http", "tunnel forbidden proxy"},
		{"451", say("451 Unavailable For Legal Reasons"), "http", "tunnel forbidden proxy"},
		{"quota used up", page("502 Bad Gateway", "", "Your traffic limit is used up"), "http", "tunnel forbidden proxy"},
		{"a seller's own status: bandwidth used up", page("452 Bandwidth Exceeded", "", "exceeded bandwidth limit"), "http", "tunnel forbidden proxy"},
		{"a seller's own status: too many at once", page("453 Thread Limit Exceeded", "", "exceeded threads limit"), "http", "tunnel rate_limited proxy"},
		{"a seller's own status: no such country", page("454 x", "", "invalid country code"), "http", "tunnel forbidden proxy"},
		{"400 whose page speaks of the login", page("400 Bad Request", "", "Incorrect username or password"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"400 of an ordinary web server", say("400 Bad Request"), "http", "tunnel method_unsupported proxy"},
		{"404 of an ordinary web server", say("404 Not Found"), "http", "tunnel method_unsupported proxy"},
		{"405", say("405 Method Not Allowed", "Allow: GET, HEAD"), "http", "tunnel method_unsupported proxy"},
		{"501", say("501 Not Implemented"), "http", "tunnel method_unsupported proxy"},
		{"505", say("505 HTTP Version Not Supported"), "http", "tunnel method_unsupported proxy"},
		{"418", say("418 I'm a teapot"), "http", "tunnel method_unsupported proxy"},
		{"nginx: plain request to the HTTPS port", page("400 Bad Request", "Server: nginx\r\n", "<center>The plain HTTP request was sent to HTTPS port</center>"), "http", "tunnel protocol_mismatch proxy"},
		{"Go: plain request to the HTTPS port", zoo.Say("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"), "http", "tunnel protocol_mismatch proxy"},
		{"Apache: plain request to the HTTPS port", page("400 Bad Request", "", "You're speaking plain HTTP to an SSL-enabled server port."), "http", "tunnel protocol_mismatch proxy"},
		{"TLS alert to a plain request", zoo.Say("\x15\x03\x01\x00\x02\x02\x46"), "http", "tunnel protocol_mismatch proxy"},
		{"SSH", zoo.Say("SSH-2.0-OpenSSH_9.2\r\n"), "http", "tunnel protocol_mismatch proxy"},
		{"SOCKS5 behind an http scheme", zoo.Say("\x05\xff"), "http", "tunnel protocol_mismatch proxy"},
		{"SMTP", zoo.Say("220 mail ESMTP\r\n"), "http", "tunnel protocol_mismatch proxy"},
		{"HTML without a status line", zoo.Say("<html>hello</html>"), "http", "tunnel protocol_mismatch proxy"},
		{"status of two digits", zoo.Say("HTTP/1.1 20 OK\r\n\r\n"), "http", "tunnel malformed proxy"},
		{"status of letters", zoo.Say("HTTP/1.1 abc OK\r\n\r\n"), "http", "tunnel malformed proxy"},
		{"101", zoo.Say("HTTP/1.1 101 Switching Protocols\r\n\r\n"), "http", "tunnel malformed proxy"},
		{"NUL in the head", zoo.Say("HTTP/1.1 200 OK\r\nA: b\x00c\r\n\r\n"), "http", "tunnel malformed proxy"},
		{"squid: refused", say("503 Service Unavailable", "X-Squid-Error: ERR_CONNECT_FAIL 111"), "http", "tunnel upstream_refused target"},
		{"squid: timeout", say("503 Service Unavailable", "X-Squid-Error: ERR_CONNECT_FAIL 110"), "http", "tunnel upstream_timeout target"},
		{"squid: no route", say("503 Service Unavailable", "X-Squid-Error: ERR_CONNECT_FAIL 113"), "http", "tunnel upstream_unreachable target"},
		{"squid: an errno nobody knows", say("503 Service Unavailable", "X-Squid-Error: ERR_CONNECT_FAIL 999"), "http", "tunnel upstream_error target"},
		{"squid: no such name", say("503 Service Unavailable", "X-Squid-Error: ERR_DNS_FAIL 0"), "http", "tunnel upstream_dns target"},
		{"squid: denied", say("403 Forbidden", "X-Squid-Error: ERR_ACCESS_DENIED 0"), "http", "tunnel forbidden proxy"},
		{"squid: denied with a page of its own", say("403 Forbidden", "X-Squid-Error: ERR_OUR_PAGE 0"), "http", "tunnel forbidden proxy"},
		{"squid: a port that is not safe", say("403 Forbidden", "X-Squid-Error: ERR_ACCESS_DENIED 0"), "http://a:b@", "tunnel forbidden proxy"},
		{"squid: out of sockets", say("500 x", "X-Squid-Error: ERR_SOCKET_FAILURE 98"), "http", "tunnel upstream_error proxy"},
		{"RFC 9209: refused", say("502 Bad Gateway", "Proxy-Status: p.example; error=connection_refused"), "http", "tunnel upstream_refused target"},
		{"RFC 9209: dns", say("502 Bad Gateway", `Proxy-Status: p; error=dns_error; rcode="NXDOMAIN"`), "http", "tunnel upstream_dns target"},
		{"RFC 9209: the nearest one counts", say("502 x", `Proxy-Status: origin; error=dns_timeout, "near; error=x"; details="a, b; error=dns_error"; error=connection_timeout`), "http", "tunnel upstream_timeout target"},
		{"RFC 9209: denied", say("403 x", "Proxy-Status: p; error=http_request_denied"), "http", "tunnel forbidden proxy"},
		{"RFC 9209: prohibited address", say("502 x", "Proxy-Status: p; error=destination_ip_prohibited"), "http", "tunnel forbidden proxy"},
		{"RFC 9209: its own fault", say("500 x", "Proxy-Status: p; error=proxy_internal_error"), "http", "tunnel upstream_error proxy"},
		{"RFC 9209: loop", say("502 x", "Proxy-Status: p; error=proxy_loop_detected"), "http", "tunnel upstream_error proxy"},
		{"RFC 9209: connection limit", say("503 x", "Proxy-Status: p; error=connection_limit_reached"), "http", "tunnel rate_limited proxy"},
		{"RFC 9209: unroutable", say("502 x", "Proxy-Status: p; error=destination_ip_unroutable"), "http", "tunnel upstream_unreachable target"},
		{"RFC 9209: a type of tomorrow", say("502 x", "Proxy-Status: p; error=quantum_decoherence"), "http", "tunnel upstream_error unknown"},
		{"tinyproxy: cannot connect", page("500 Unable to connect", "Server: tinyproxy/1.11.1\r\n", "<p>Unable to connect</p>"), "http", "tunnel upstream_error target"},
		{"tinyproxy: port not allowed", say("403 Access violation", "Server: tinyproxy/1.11.1"), "http", "tunnel forbidden proxy"},
		{"privoxy: no such domain", say("404 No such domain"), "http", "tunnel upstream_dns target"},
		{"privoxy: connect failed", page("503 Connect failed", "", "503 - Connect failed (Privoxy@localhost)"), "http", "tunnel upstream_error target"},
		{"privoxy: blocked", say("403 Request blocked by Privoxy"), "http", "tunnel forbidden proxy"},
		{"3proxy: host not found or connection failed", page("502 Bad Gateway", "", "<h2>502 Bad Gateway</h2><h3>Host Not Found or connection failed</h3>"), "http", "tunnel upstream_dns target"},
		{"goproxy: dial error", page("502 Bad Gateway", "", "dial tcp 192.0.2.1:443: connect: connection refused"), "http", "tunnel upstream_refused target"},
		{"goproxy: no such host", page("502 Bad Gateway", "", "dial tcp: lookup nx.example: no such host"), "http", "tunnel upstream_dns target"},
		{"goproxy: timeout", page("500 Internal Server Error", "", "dial tcp 192.0.2.1:443: i/o timeout"), "http", "tunnel upstream_timeout target"},
		{"haproxy: no server", page("503 Service Unavailable", "", "<h1>503 Service Unavailable</h1>\nNo server is available to handle this request."), "http", "tunnel upstream_error proxy"},
		{"seller: no exit", say("502 Bad Gateway", "X-Luminati-Error: No peers available"), "http", "tunnel upstream_error proxy"},
		{"seller: wrong zone password", say("407 x", "X-Brd-Error: Auth failed: wrong password"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"502 and nothing more", say("502 Bad Gateway"), "http", "tunnel upstream_error target"},
		{"504", say("504 Gateway Timeout"), "http", "tunnel upstream_timeout target"},
		{"503 and nothing more", say("503 Service Unavailable"), "http", "tunnel upstream_error unknown"},
		{"500 and nothing more", say("500 Internal Server Error"), "http", "tunnel upstream_error unknown"},
		{"522", say("522 "), "http", "tunnel upstream_timeout target"},
		{"429", say("429 Too Many Requests", "Retry-After: 120"), "http", "tunnel rate_limited proxy"},
		{"too many connections", page("503 Service Unavailable", "", "Too many connections"), "http", "tunnel rate_limited proxy"},
		{"captive portal", say("302 Found", "Location: http://login.hotspot.example/?u=target.test"), "http", "tunnel redirected proxy"},
		{"captive portal without a place", say("307 Temporary Redirect"), "http", "tunnel redirected proxy"},
		{"header lines without end", zoo.Flood("HTTP/1.1 200 OK\r\n", "X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n", 0), "http", "tunnel header_too_large proxy"},
		{"one line without end", zoo.Flood("HTTP/1.1 200 ", "b", 0), "http", "tunnel header_too_large proxy"},
		{"interim answers without end", zoo.Flood("", "HTTP/1.1 100 Continue\r\n\r\n", 0), "http", "tunnel header_too_large proxy"},
		{"reset right after accept", zoo.ResetAtOnce, "http", "tunnel reset proxy"},
		{"reset after CONNECT", zoo.SayAndReset(""), "http", "tunnel reset proxy"},
		{"reset in the reply", zoo.SayAndReset("HTTP/1.1 200 OK\r\nA: "), "http", "tunnel reset proxy"},
		{"close after CONNECT", zoo.Listen, "http", "tunnel eof proxy"},
		{"close in the reply", zoo.Say("HTTP/1.1 200 OK\r\nA: "), "http", "tunnel eof proxy"},
	})
	each(t, hurried("https://target.test/"), []behaviour{
		{"silent after CONNECT", zoo.Silent, "http", "tunnel timeout proxy"},
		{"silent in the reply", zoo.SayAndHang("HTTP/1.1 200 OK\r\n"), "http", "tunnel timeout proxy"},
		{"a byte now and then", zoo.Drip("HTTP/1.1 200 Connection established\r\nX: "+strings.Repeat("x", 300)+"\r\n\r\n", pace), "http", "tunnel timeout proxy"},
		{"407 whose page never ends", zoo.SayAndHang("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\nContent-Length: 9000\r\n\r\n"), "http", "proxy_auth auth_required credentials"},
		{"403 whose page drips", zoo.Drip("HTTP/1.1 403 x\r\n\r\n"+strings.Repeat("x", 99), time.Millisecond), "http", "tunnel forbidden proxy"},
	})
}

// Whether the kernel shows a close or a reset depends on what had been sent by then: either
// way what was sent has not been read.
func TestProxyClosesRightAfterAccept(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://target.test/", "https://target.test/"} {
		for _, scheme := range []string{"http", "socks5h", "socks4a"} {
			for range 10 {
				want(t, run(t, request(url), zoo.Serve(t, zoo.HangUp).URL(scheme, "")), "tunnel reset proxy")
			}
		}
	}
}
