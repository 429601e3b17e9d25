package checks_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
)

// tape is a peer that plays bytes whatever it is sent, in pieces of at most step bytes.
type tape struct {
	r    *bytes.Reader
	step int
}

func (c tape) Read(b []byte) (int, error) {
	if c.step > 0 && len(b) > c.step {
		b = b[:c.step]
	}
	return c.r.Read(b)
}
func (tape) Write(b []byte) (int, error)      { return len(b), nil }
func (tape) Close() error                     { return nil }
func (tape) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (tape) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (tape) SetDeadline(time.Time) error      { return nil }
func (tape) SetReadDeadline(time.Time) error  { return nil }
func (tape) SetWriteDeadline(time.Time) error { return nil }

func play(c *checks.Check, proxy string, data []byte, step int) verdict.Verdict {
	ep, err := endpoint.Parse(proxy)
	if err != nil {
		panic(err)
	}
	o := checks.RunOptions{Dial: func(context.Context, netip.AddrPort) (net.Conn, error) { return tape{bytes.NewReader(data), step}, nil }}
	return c.Run(context.Background(), ep, o)
}

// sane is what holds of every verdict, whatever a peer has sent. The same bytes in single
// pieces must lead to the same verdict.
func sane(t *testing.T, spec checks.Spec, proxy string, data []byte) verdict.Verdict {
	t.Helper()
	c := compile(t, spec)
	v, w := play(c, proxy, data, 0), play(c, proxy, data, 1)
	if says(v) != says(w) || v.Status != w.Status || v.Bytes != w.Bytes {
		t.Fatalf("at once: %s %d %d (%s)\nin pieces: %s %d %d (%s)", says(v), v.Status, v.Bytes, v.Detail, says(w), w.Status, w.Bytes, w.Detail)
	}
	switch {
	case v.Passed:
		if v.Stage != "" || v.Reason != "" || v.Blame != "" {
			t.Fatalf("passed and failed: %+v", v)
		}
	case !slices.Contains(verdict.Stages, v.Stage), !slices.Contains(verdict.Reasons, v.Reason), v.Blame == "":
		t.Fatalf("no verdict: %+v", v)
	case v.Blame == verdict.Local:
		t.Fatalf("a peer's bytes were held for our own fault: %+v", v)
	}
	if len(v.Detail) > verdict.MaxDetail || !utf8.ValidString(v.Detail) || bytes.ContainsAny([]byte(v.Detail), "\r\n\x00\x1b") {
		t.Fatalf("detail %q", v.Detail)
	}
	if v.RetryAfter < 0 || v.RetryAfter > 24*time.Hour {
		t.Fatalf("retry after %s", v.RetryAfter)
	}
	return v
}

func FuzzConnectReply(f *testing.F) {
	for _, s := range []string{"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 407 x\r\nProxy-Authenticate: Basic realm=\"a, NTLM\"\r\n\r\n", "HTTP/1.1 503 x\nX-Squid-Error: ERR_CONNECT_FAIL 111\n\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 x\r\nRetry-After: 5\r\n\r\n", "HTTP/1.1 502 x\r\nContent-Length: 9\r\n\r\nno such host", "\x15\x03\x01\x00\x02\x02\x46", "\x05\xff", "\r\n\r\nHTTP/1.1 200\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sane(t, request("https://target.test/"), "http://a:b@192.0.2.1:1", data)
	})
}

func FuzzSOCKS5Reply(f *testing.F) {
	for _, s := range []string{grant5, hello5 + grant5 + "HTTP/1.1 200 OK\r\n\r\n", "\x05\x02\x01\x00" + grant5, "\x05\x02\x01\x01", "\x05\xff", hello5 + "\x05\x05", hello5 + "\x05\x00\x00\x03\xff", "HTTP/1.1 400 x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sane(t, request(refused), "socks5h://192.0.2.1:1", data)
		sane(t, request(refused), "socks5h://a:b@192.0.2.1:1", data)
	})
}

func FuzzSOCKS4Reply(f *testing.F) {
	for _, s := range []string{"\x00\x5a" + bound4, "\x00\x5b", "\x04\x5a" + bound4 + "HTTP/1.1 204 x\r\n\r\n", "\x00\x5d" + bound4, "\x05\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sane(t, request(refused), "socks4a://192.0.2.1:1", data) })
}

// Whatever net/http takes for a whole answer, a probe takes for the same: status and length.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "HTTP/1.0 200 OK\n\nok",
		"HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b", "HTTP/1.1 302 x\r\nLocation: http://10.0.0.1/login\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\nxx", "HTTP/1.1 500 x\r\nServer: tinyproxy\r\n\r\nUnable to connect"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		spec := request(refused)
		spec.Steps[0].Expect.Status = []checks.StatusRange{{From: 200, To: 999}}
		v := sane(t, spec, "http://192.0.2.1:1", data)
		if bytes.Contains(bytes.ToLower(data), []byte("content-encoding")) {
			return
		}
		if bytes.Contains(data, []byte(" :")) || bytes.Contains(data, []byte("\t:")) {
			return // a blank before the colon: taken off here, a name of its own there
		}
		if bytes.Contains(bytes.ToLower(data), []byte("transfer-encoding")) && !bytes.HasPrefix(data, []byte("HTTP/1.1")) {
			return // net/http ignores it in HTTP/1.0, as curl does not: old proxies pass chunks on
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), &http.Request{Method: "GET"})
		if err != nil || resp.StatusCode < 200 || resp.StatusCode == 407 || resp.StatusCode == 511 || len(resp.TransferEncoding) > 0 && resp.ContentLength >= 0 {
			return
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || len(body) > 256<<10 || resp.ProtoMajor != 1 {
			return
		}
		if v.Stage == verdict.Body && v.Reason == verdict.Malformed || v.Stage == verdict.Headers || v.Stage == verdict.Tunnel {
			return // stricter than net/http, or judged before the body
		}
		if v.Status != resp.StatusCode || v.Passed && v.Bytes != int64(len(body)) {
			t.Fatalf("%s status %d bytes %d, net/http: %d %d", says(v), v.Status, v.Bytes, resp.StatusCode, len(body))
		}
	})
}

// A chunked body that net/http reads whole, a probe reads whole, and the reverse.
func FuzzChunked(f *testing.F) {
	for _, s := range []string{"0\r\n\r\n", "2\r\nok\r\n0\r\n\r\n", "1;a=b\r\nx\r\n0\r\nT: u\r\n\r\n", "00000001\nx\n0\n\n", "ffffffffffffffff\r\n", "-1\r\n", "2 \r\nok\r\n0\r\n\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		v := sane(t, request(refused), "http://192.0.2.1:1", append([]byte(head), data...))
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(append([]byte(head), data...))), nil)
		if err != nil {
			return
		}
		if body, err := io.ReadAll(resp.Body); err == nil && len(body) < 256<<10 && v.Passed && v.Bytes != int64(len(body)) {
			t.Fatalf("%d bytes, net/http %d", v.Bytes, len(body))
		}
	})
}
