package checks_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

// answered is one behaviour of a target, and the verdicts when it is reached through a forward
// proxy and through a tunnel.
type answered struct {
	name            string
	peer            zoo.Handler
	forward, tunnel string
}

// eachAnswer runs every behaviour as a forward proxy's own answer and as a target behind SOCKS.
func eachAnswer(t *testing.T, change func(*checks.Step), hurry bool, list []answered) {
	t.Helper()
	socks := zoo.SOCKS(t, zoo.Options{})
	for _, a := range list {
		t.Run(a.name, func(t *testing.T) {
			s := zoo.Serve(t, a.peer)
			spec := request("http://target.test:" + fmt.Sprint(s.Addr.Port()) + "/")
			if hurry {
				spec = hurried(spec.Steps[0].Request.URL)
			}
			if change != nil {
				change(&spec.Steps[0])
			}
			want(t, run(t, spec, s.URL("http", "")), a.forward)
			want(t, run(t, spec, socks.URL("socks5h", "")), a.tunnel)
		})
	}
}

func ok(headers, body string) zoo.Handler {
	return zoo.Say("HTTP/1.1 200 OK\r\n" + headers + "\r\n" + body)
}

func status(line string, headers ...string) zoo.Handler {
	return zoo.Say("HTTP/1.1 " + line + "\r\n" + strings.Join(append(headers, ""), "\r\n") + "Content-Length: 0\r\n\r\n")
}

func TestAnswersThatPass(t *testing.T) {
	t.Parallel()
	pass := func(name string, h zoo.Handler) answered { return answered{name, h, "pass", "pass"} }
	eachAnswer(t, func(s *checks.Step) { s.Expect.BodyContains = []string{"catalogue"} }, false, []answered{
		pass("length", ok("Content-Length: 9\r\n", "catalogue")),
		pass("more than the length", ok("Content-Length: 9\r\n", "catalogue and more")),
		pass("until close", ok("", "the catalogue")),
		pass("HTTP/1.0", zoo.Say("HTTP/1.0 200 OK\n\nthe catalogue")),
		pass("chunked", ok("Transfer-Encoding: chunked\r\n", "4\r\ncata\r\n5;x=y\r\nlogue\r\n0\r\n\r\n")),
		pass("chunked with trailers", ok("Transfer-Encoding: chunked\r\nTrailer: X\r\n", "9\r\ncatalogue\r\n0\r\nX: y\r\n\r\n")),
		pass("chunked with LF alone", ok("Transfer-Encoding: chunked\r\n", "9\ncatalogue\n0\n\n")),
		pass("chunked and a length", ok("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "9\r\ncatalogue\r\n0\r\n\r\n")),
		pass("the same length twice", ok("Content-Length: 9\r\nContent-Length: 9\r\n", "catalogue")),
		pass("in single bytes", zoo.Pieces("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ncatalogue\r\n0\r\n\r\n", 1)),
		pass("100 first", zoo.Say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\ncatalogue")),
		pass("early hints first", zoo.Say("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\ncatalogue")),
		pass("gzip unasked", ok("Content-Encoding: gzip\r\n", packed("gzip", "the catalogue"))),
		pass("x-gzip in chunks", ok("Content-Encoding: x-gzip\r\nTransfer-Encoding: chunked\r\n", inChunks(packed("gzip", "the catalogue")))),
		pass("deflate as zlib", ok("Content-Encoding: deflate\r\n", packed("zlib", "the catalogue"))),
		pass("deflate raw", ok("Content-Encoding: deflate\r\n", packed("flate", "the catalogue"))),
		pass("brotli", ok("Content-Encoding: br\r\n", packed("br", "the catalogue"))),
		pass("zstd", ok("Content-Encoding: zstd\r\n", packed("zstd", "the catalogue"))),
		pass("gzip in gzip", ok("Content-Encoding: gzip, gzip\r\n", packed("gzip", packed("gzip", "the catalogue")))),
		pass("gzip with something behind it", ok("Content-Encoding: gzip\r\n", packed("gzip", "the catalogue")+"\x00\x00\x00")),
		pass("gzip of two members", ok("Content-Encoding: gzip\r\n", packed("gzip", "the cata")+packed("gzip", "logue"))),
		pass("identity", ok("Content-Encoding: identity\r\n", "the catalogue")),
		pass("no reason phrase", zoo.Say("HTTP/1.1 200\r\n\r\ncatalogue")),
	})
}

func TestAnswersThatFail(t *testing.T) {
	t.Parallel()
	const huge = "HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"
	eachAnswer(t, nil, false, []answered{
		{"close instead of an answer", zoo.Listen, "headers eof unknown", "headers eof target"},
		{"reset instead of an answer", zoo.SayAndReset(""), "tunnel reset proxy", "headers reset target"},
		{"reset in the head", zoo.SayAndReset("HTTP/1.1 200 OK\r\nA: b"), "headers reset unknown", "headers reset target"},
		{"close in the head", zoo.Say("HTTP/1.1 200 OK\r\nA: b"), "headers eof unknown", "headers eof target"},
		{"not HTTP", zoo.Say("hello\r\n\r\n"), "tunnel protocol_mismatch proxy", "headers malformed target"},
		{"TLS to plain HTTP", zoo.Say("\x15\x03\x01\x00\x02\x02\x46"), "tunnel protocol_mismatch proxy", "headers protocol_mismatch target"},
		{"status of letters", zoo.Say("HTTP/1.1 abc\r\n\r\n"), "headers malformed unknown", "headers malformed target"},
		{"101", zoo.Say("HTTP/1.1 101 Switching\r\n\r\n"), "headers malformed unknown", "headers malformed target"},
		{"head without end", zoo.Flood("HTTP/1.1 200 OK\r\n", "A: bbbbbbbbbbbbbbbbbbb\r\n", 0), "headers header_too_large unknown", "headers header_too_large target"},
		{"line without end", zoo.Flood("HTTP/1.1 200 OK\r\nA: ", "b", 0), "headers header_too_large unknown", "headers header_too_large target"},
		{"interim answers in a flood", zoo.Flood("", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n", 0), "headers timeout target", "headers timeout target"},
		{"body shorter than its length", ok("Content-Length: 9\r\n", "cat"), "body truncated target", "body truncated target"},
		{"chunked without the last chunk", ok("Transfer-Encoding: chunked\r\n", "3\r\ncat\r\n"), "body truncated target", "body truncated target"},
		{"chunk cut", ok("Transfer-Encoding: chunked\r\n", "9\r\ncat"), "body truncated target", "body truncated target"},
		{"chunked without the blank line", ok("Transfer-Encoding: chunked\r\n", "3\r\ncat\r\n0\r\n"), "body truncated target", "body truncated target"},
		{"gzip cut", ok("Content-Encoding: gzip\r\nContent-Length: 500\r\n", packed("gzip", strings.Repeat("x", 99))[:20]), "body truncated target", "body truncated target"},
		{"gzip without its end", ok("Content-Encoding: gzip\r\n", packed("gzip", "catalogue")[:20]), "body decode_error target", "body decode_error target"},
		{"chunk size of letters", ok("Transfer-Encoding: chunked\r\n", "zz\r\n"), "body malformed target", "body malformed target"},
		{"chunk size negative", ok("Transfer-Encoding: chunked\r\n", "-1\r\n"), "body malformed target", "body malformed target"},
		{"chunk size over 64 bits", ok("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"), "body malformed target", "body malformed target"},
		{"chunk without its line end", ok("Transfer-Encoding: chunked\r\n", "3\r\ncatalogue"), "body malformed target", "body malformed target"},
		{"chunk line without end", zoo.Flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x", 0), "body malformed target", "body malformed target"},
		{"trailers without end", zoo.Flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: bbbbbbbbbbbbbbbbb\r\n", 0), "body malformed target", "body malformed target"},
		{"two lengths", ok("Content-Length: 3\r\nContent-Length: 9\r\n", "catalogue"), "headers malformed unknown", "headers malformed target"},
		{"length of letters", ok("Content-Length: many\r\n", "cat"), "headers malformed unknown", "headers malformed target"},
		{"length negative", ok("Content-Length: -1\r\n", "cat"), "headers malformed unknown", "headers malformed target"},
		{"a transfer coding nobody asked for", ok("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), "headers malformed unknown", "headers malformed target"},
		{"not gzip", ok("Content-Encoding: gzip\r\n", "catalogue"), "body decode_error target", "body decode_error target"},
		{"not brotli", ok("Content-Encoding: br\r\n", "\xff\xff\xff\xff"), "body decode_error target", "body decode_error target"},
		{"not zstd", ok("Content-Encoding: zstd\r\n", "catalogue"), "body decode_error target", "body decode_error target"},
		{"a coding nobody knows", ok("Content-Encoding: rot13\r\n", "cat"), "body decode_error target", "body decode_error target"},
		{"codings without end", ok("Content-Encoding: gzip, gzip, gzip, gzip\r\n", "cat"), "body decode_error target", "body decode_error target"},
		{"body without end", zoo.Flood("HTTP/1.1 200 OK\r\n\r\n", "catalogue", 0), "body too_large target", "body too_large target"},
		{"huge body as announced", zoo.Flood(huge, "catalogue", 0), "body too_large target", "body too_large target"},
		{"chunks without end", zoo.Flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1000\r\n"+strings.Repeat("x", 4096)+"\r\n", 0), "body too_large target", "body too_large target"},
		{"gzip bomb", ok("Content-Encoding: gzip\r\n", packed("gzip", strings.Repeat("\x00", 8<<20))), "body too_large target", "body too_large target"},
		{"brotli bomb", ok("Content-Encoding: br\r\n", packed("br", strings.Repeat("\x00", 8<<20))), "body too_large target", "body too_large target"},
		{"zstd bomb", ok("Content-Encoding: zstd\r\n", packed("zstd", strings.Repeat("\x00", 8<<20))), "body too_large target", "body too_large target"},
		{"gzip of nothing without end", zoo.Flood("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", packed("gzip", ""), 0), "body too_large target", "body too_large target"},
		{"reset in the body", zoo.SayAndReset("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncat"), "body reset unknown", "body reset unknown"},
		{"404", status("404 Not Found", "Server: nginx"), "verify http_status target", "verify http_status target"},
		{"403", status("403 Forbidden", "Server: nginx"), "verify http_status target", "verify http_status target"},
		{"401", status("401 Unauthorized", "WWW-Authenticate: Basic"), "verify http_status target", "verify http_status target"},
		{"401 without a challenge", status("401 Unauthorized"), "verify http_status unknown", "verify http_status target"},
		{"500", status("500 Internal Server Error"), "verify http_status target", "verify http_status target"},
		{"502 that anybody may have said", status("502 Bad Gateway"), "verify http_status unknown", "verify http_status target"},
		{"502 of a service that stands before the target", status("502 Bad Gateway", "Server: cloudflare", "CF-RAY: 1"), "verify http_status target", "verify http_status target"},
		{"503 with Retry-After", status("503 Service Unavailable", "Retry-After: 60"), "verify http_status target", "verify http_status target"},
		{"429", status("429 Too Many Requests", "Retry-After: 60"), "verify rate_limited target", "verify rate_limited target"},
		{"302 to the same site", status("302 Found", "Location: https://www.target.test/"), "verify redirected target", "verify redirected target"},
		{"302 to another site", status("302 Found", "Location: https://elsewhere.example/welcome"), "verify redirected unknown", "verify redirected target"},
		{"407", status("407 x", "Proxy-Authenticate: Basic"), "proxy_auth auth_required credentials", "verify http_status target"},
		{"407 with Negotiate", status("407 x", "Proxy-Authenticate: Negotiate"), "proxy_auth auth_scheme_unsupported credentials", "verify http_status target"},
		{"511", status("511 Network Authentication Required"), "proxy_auth auth_required credentials", "verify http_status target"},
		{"captive portal", status("302 Found", "Location: http://10.1.0.1/login?orig=http://target.test/"), "tunnel redirected proxy", "verify redirected target"},
		{"squid: refused", status("503 x", "Server: squid/5.7", "X-Squid-Error: ERR_CONNECT_FAIL 111"), "tunnel upstream_refused target", "verify http_status target"},
		{"squid: denied", status("403 x", "Server: squid/5.7", "X-Squid-Error: ERR_ACCESS_DENIED 0"), "tunnel forbidden proxy", "verify http_status target"},
		{"squid: no answer of the target", status("504 x", "X-Squid-Error: ERR_READ_TIMEOUT 0"), "tunnel upstream_timeout target", "verify http_status target"},
		{"RFC 9209", status("502 x", "Proxy-Status: p; error=dns_timeout"), "tunnel upstream_dns target", "verify http_status target"},
		{"tinyproxy: cannot connect", status("500 Unable to connect", "Server: tinyproxy/1.11"), "tunnel upstream_error target", "verify http_status target"},
		{"privoxy: no such domain", zoo.Say("HTTP/1.1 404 No such domain\r\n\r\n404 - No such domain (Privoxy@localhost)"), "tunnel upstream_dns target", "verify http_status target"},
		{"a proxy that has only CONNECT", status("405 Method Not Allowed", "Proxy-Agent: x"), "tunnel method_unsupported proxy", "verify http_status target"},
		{"bare 405 to GET", status("405 Method Not Allowed"), "tunnel method_unsupported proxy", "verify http_status target"},
		{"bare 501 to GET", status("501 Not Implemented"), "tunnel method_unsupported proxy", "verify http_status target"},
		{"bare 400", status("400 Bad Request"), "verify http_status unknown", "verify http_status target"},
		{"a proxy's own 429", status("429 x", "Server: GoProxy", "Retry-After: 9"), "tunnel rate_limited proxy", "verify rate_limited target"},
		{"a proxy's own 502", status("502 Bad Gateway", "Server: mitmproxy 10.1"), "tunnel upstream_error target", "verify http_status target"},
		{"plain request to the HTTPS port", zoo.Say("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"), "tunnel protocol_mismatch proxy", "verify http_status target"},
	})
	eachAnswer(t, nil, true, []answered{
		{"silent", zoo.Silent, "headers timeout unknown", "headers timeout target"},
		{"interim answers and nothing more", zoo.Flood("", "HTTP/1.1 103 Early Hints\r\n\r\n", pace), "headers timeout target", "headers timeout target"},
		{"100 and then silence", zoo.SayAndHang("HTTP/1.1 100 Continue\r\n\r\n"), "headers timeout target", "headers timeout target"},
		{"head a byte now and then", zoo.Drip("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 300)+"\r\n\r\n", pace), "headers timeout proxy", "headers timeout proxy"},
		{"body a byte now and then", zoo.Flood("HTTP/1.1 200 OK\r\n\r\n", "x", pace), "body timeout proxy", "body timeout proxy"},
		{"body without a length that stops", zoo.SayAndHang("HTTP/1.1 200 OK\r\n\r\nthe whole page"), "body timeout unknown", "body timeout unknown"},
		{"body that stops", zoo.SayAndHang("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncat"), "body timeout proxy", "body timeout proxy"},
	})
}

func packed(how, text string) string {
	var b bytes.Buffer
	var w interface {
		Write([]byte) (int, error)
		Close() error
	}
	switch how {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "flate":
		w, _ = flate.NewWriter(&b, 5)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func inChunks(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "1\r\n%s\r\n", s[i:i+1])
	}
	return b.String() + "0\r\n\r\n"
}

func TestExpectations(t *testing.T) {
	t.Parallel()
	type x = checks.Expect
	page := ok("Content-Type: text/html\r\nX-A: 1\r\nX-A: 2\r\n", "the catalogue")
	guarded := ok("Server: cloudflare\r\nCF-RAY: 1\r\n", "are you a robot? captcha")
	for _, c := range []struct {
		name            string
		expect          x
		peer            zoo.Handler
		forward, tunnel string
	}{
		{"status range", x{Status: []checks.StatusRange{{404, 404}, {200, 204}}}, page, "pass", "pass"},
		{"status expected to be bad", x{Status: []checks.StatusRange{{403, 403}}}, status("403 x", "Server: squid"), "pass", "pass"},
		{"200 not expected", x{Status: []checks.StatusRange{{404, 404}}}, page, "verify http_status target", "verify http_status target"},
		{"body matches", x{BodyMatches: "cat.l?ogue$"}, page, "pass", "pass"},
		{"body matches not", x{BodyMatches: "^cat"}, page, "verify content_mismatch proxy", "verify content_mismatch target"},
		{"body contains not", x{BodyContains: []string{"the", "welcome"}}, page, "verify content_mismatch proxy", "verify content_mismatch target"},
		{"body excludes", x{BodyExcludes: []string{"cat"}}, page, "verify content_mismatch unknown", "verify content_mismatch target"},
		{"a guard before the target", x{BodyContains: []string{"welcome"}}, guarded, "verify content_mismatch target", "verify content_mismatch target"},
		{"sha256", x{BodySHA256: "a38c1cf34eaa39c6a6cd76d0ee0b7ee4ba0bf9a6b1ba6e0fe2b6c3ca4e6dfa0b"}, page, "verify content_mismatch proxy", "verify content_mismatch target"},
		{"header", x{Headers: map[string]string{"content-TYPE": "^text/html"}}, page, "pass", "pass"},
		{"one of two header lines", x{Headers: map[string]string{"X-A": "^2$"}}, page, "pass", "pass"},
		{"header missing", x{Headers: map[string]string{"X-B": ""}}, page, "verify header_missing proxy", "verify header_missing target"},
		{"header mismatch", x{Headers: map[string]string{"Content-Type": "json"}}, page, "verify header_mismatch proxy", "verify header_mismatch target"},
		{"max_body", x{MaxBody: 5}, page, "body too_large target", "body too_large target"},
		{"max_body exactly", x{MaxBody: 13}, page, "pass", "pass"},
		{"max_headers", x{MaxHeaders: 20}, page, "headers header_too_large unknown", "headers header_too_large target"},
		{"max_latency", x{MaxLatency: time.Nanosecond}, page, "verify too_slow proxy", "verify too_slow proxy"},
	} {
		eachAnswer(t, func(s *checks.Step) { s.Expect = c.expect }, false, []answered{{c.name, c.peer, c.forward, c.tunnel}})
	}
}

func TestSHA256OfTheRightPage(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	spec := request(site.HTTP("/"))
	spec.Steps[0].Expect.BodySHA256 = sum(zoo.Page)
	want(t, run(t, spec, zoo.ForwardProxy(t, zoo.Options{}).URL("http", "")), "pass")
}

func TestNonceTellsAStoredCopy(t *testing.T) {
	t.Parallel()
	fresh := zoo.Target(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("X-Nonce"))
		fmt.Fprintf(w, "catalogue %s %s", r.URL.Query().Get("n"), r.Header.Get("X-Nonce"))
	}))
	proxy := zoo.ForwardProxy(t, zoo.Options{})
	spec := func(url string) checks.Spec {
		s := secure(t, fresh, url)
		s.Steps[0].Request.Headers = map[string]string{"X-Nonce": "h-{nonce}"}
		s.Steps[0].Expect = checks.Expect{BodyContains: []string{"catalogue {nonce} h-{nonce}"}, BodyMatches: "^catalogue {nonce} ", Headers: map[string]string{"X-Echo": "^h-{nonce}$"}}
		return s
	}
	want(t, run(t, spec(fresh.HTTP("/?n={nonce}")), proxy.URL("http", "")), "pass")
	want(t, run(t, spec(fresh.HTTPS("/?n={nonce}")), proxy.URL("http", "")), "pass")
	eachAnswer(t, func(s *checks.Step) {
		s.Request.URL += "?n={nonce}"
		s.Expect.BodyContains = []string{"catalogue", "{nonce}"}
	}, false, []answered{
		{"a stored copy", ok("Age: 9\r\n", "catalogue abcdefgh"), "verify stale proxy", "verify stale target"},
		{"another page", ok("", "please log in"), "verify content_mismatch proxy", "verify content_mismatch target"},
	})
}
