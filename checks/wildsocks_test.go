package checks_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

const (
	hello5  = "\x05\x00"
	bound5  = "\x00\x01\x7f\x00\x00\x01\x00\x50"
	grant5  = "\x05\x00" + bound5
	bound4  = "\x00\x50\x7f\x00\x00\x01"
	refused = "http://target.test/"
)

func TestSOCKSRefusals(t *testing.T) {
	t.Parallel()
	code := func(c string) zoo.Handler { return zoo.Dialogue(nil, hello5, "\x05"+c+bound5) }
	each(t, request(refused), []behaviour{
		{"SOCKS5 reply 1", code("\x01"), "socks5h", "tunnel upstream_error proxy"},
		{"SOCKS5 reply 2", code("\x02"), "socks5h", "tunnel forbidden proxy"},
		{"SOCKS5 reply 3", code("\x03"), "socks5h", "tunnel upstream_unreachable proxy"},
		{"SOCKS5 reply 4", code("\x04"), "socks5h", "tunnel upstream_unreachable target"},
		{"SOCKS5 reply 5", code("\x05"), "socks5h", "tunnel upstream_refused target"},
		{"SOCKS5 reply 6", code("\x06"), "socks5h", "tunnel upstream_timeout target"},
		{"SOCKS5 reply 7", code("\x07"), "socks5h", "tunnel method_unsupported proxy"},
		{"SOCKS5 reply 8", code("\x08"), "socks5h", "tunnel address_unsupported proxy"},
		{"SOCKS5 reply 9", code("\x09"), "socks5h", "tunnel upstream_error unknown"},
		{"SOCKS5 reply 255", code("\xff"), "socks5h", "tunnel upstream_error unknown"},
		{"refusal of two bytes and a close", zoo.Dialogue(nil, hello5, "\x05\x05"), "socks5h", "tunnel upstream_refused target"},
		{"0xFF to no login", zoo.Dialogue(nil, "\x05\xff"), "socks5h", "proxy_auth auth_required credentials"},
		{"0xFF to a login", zoo.Dialogue(nil, "\x05\xff"), "socks5h://a:b@", "proxy_auth auth_scheme_unsupported credentials"},
		{"GSSAPI, which was not offered", zoo.Dialogue(nil, "\x05\x01"), "socks5h", "tunnel malformed proxy"},
		{"a login that was not offered", zoo.Dialogue(nil, "\x05\x02"), "socks5h", "tunnel malformed proxy"},
		{"login refused with 1", zoo.Dialogue(nil, "\x05\x02", "\x01\x01"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login refused with 2", zoo.Dialogue(nil, "\x05\x02", "\x01\x02"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login refused with 255", zoo.Dialogue(nil, "\x05\x02", "\x01\xff"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login answered by a close", zoo.Dialogue(zoo.Listen, "\x05\x02"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login answered by a reset", zoo.Dialogue(zoo.SayAndReset(""), "\x05\x02"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login answered by something else", zoo.Dialogue(nil, "\x05\x02", "HT"), "socks5h://a:b@", "proxy_auth malformed proxy"},
		{"HTTP behind socks5", zoo.Say("HTTP/1.1 400 Bad Request\r\n\r\n"), "socks5h", "tunnel protocol_mismatch proxy"},
		{"HTTP behind socks4", zoo.Say("HTTP/1.1 400 Bad Request\r\n\r\n"), "socks4a", "tunnel protocol_mismatch proxy"},
		{"SOCKS4 answers a SOCKS5 client", zoo.Dialogue(nil, "\x00\x5b\x00\x00\x00\x00\x00\x00"), "socks5h", "tunnel protocol_mismatch proxy"},
		{"SOCKS5 answers a SOCKS4 client", zoo.Dialogue(nil, "\x05\xff"), "socks4a", "tunnel protocol_mismatch proxy"},
		{"TLS behind socks5", zoo.Dialogue(nil, "\x15\x03\x01\x00\x02\x02\x46"), "socks5h", "tunnel protocol_mismatch proxy"},
		{"one byte of another protocol", zoo.Dialogue(zoo.Silent, "S"), "socks5h", "tunnel protocol_mismatch proxy"},
		{"another version in the second reply", zoo.Dialogue(nil, hello5, "\x04\x00"+bound5), "socks5h", "tunnel protocol_mismatch proxy"},
		{"an address type that is none", zoo.Dialogue(nil, hello5, "\x05\x00\x00\x09aaaaaaaa"), "socks5h", "tunnel malformed proxy"},
		{"SOCKS4 says 91", zoo.Dialogue(nil, "\x00\x5b"+bound4), "socks4a", "tunnel upstream_error target"},
		{"SOCKS4 says 92", zoo.Dialogue(nil, "\x00\x5c"+bound4), "socks4a", "proxy_auth auth_required credentials"},
		{"SOCKS4 says 93", zoo.Dialogue(nil, "\x00\x5d"+bound4), "socks4a://ann@", "proxy_auth auth_rejected credentials"},
		{"SOCKS4 says nothing known", zoo.Dialogue(nil, "\x00\x01"+bound4), "socks4a", "tunnel malformed proxy"},
		{"SOCKS4 refusal of two bytes", zoo.Dialogue(nil, "\x00\x5b"), "socks4a", "tunnel upstream_error target"},
		{"close after the greeting", zoo.Listen, "socks5h", "tunnel eof proxy"},
		{"close after the request", zoo.Dialogue(zoo.Listen, hello5), "socks5h", "tunnel eof unknown"},
		{"reset after the greeting", zoo.SayAndReset(""), "socks5h", "tunnel reset proxy"},
		{"reset in the reply", zoo.Dialogue(zoo.SayAndReset("\x05\x00\x00"), hello5), "socks5h", "tunnel reset proxy"},
		{"close in the bound address", zoo.Dialogue(nil, hello5, "\x05\x00\x00\x01\x7f"), "socks5h", "tunnel eof proxy"},
		{"SOCKS4 close in the reply", zoo.Dialogue(nil, "\x00\x5a\x00"), "socks4a", "tunnel eof proxy"},
	})
	each(t, hurried(refused), []behaviour{
		{"silent to the greeting", zoo.Silent, "socks5h", "tunnel timeout proxy"},
		{"silent to the login", zoo.Dialogue(zoo.Silent, "\x05\x02"), "socks5h://a:b@", "proxy_auth timeout proxy"},
		{"silent to the request", zoo.Dialogue(zoo.Silent, hello5), "socks5h", "tunnel timeout proxy"},
		{"SOCKS4 silent", zoo.Silent, "socks4a", "tunnel timeout proxy"},
		{"SOCKS5 a byte now and then", zoo.Slowly(40*pace, hello5, grant5), "socks5h", "tunnel timeout proxy"},
		{"SOCKS4 a byte now and then", zoo.Slowly(30*pace, "\x00\x5a"+bound4), "socks4a", "tunnel timeout proxy"},
		{"login a byte now and then", zoo.Dialogue(zoo.Slowly(60*pace, "\x01\x00"), "\x05\x02"), "socks5h://a:b@", "proxy_auth timeout proxy"},
	})
}

func TestSOCKSRepliesInPieces(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	for name, reply := range map[string]string{
		"IPv4":       grant5,
		"IPv6":       "\x05\x00\x00\x04" + strings.Repeat("\x00", 18),
		"name":       "\x05\x00\x00\x03\x05proxy\x00\x50",
		"empty name": "\x05\x00\x00\x03\x00\x00\x50",
	} {
		for _, url := range []string{site.HTTP("/"), site.HTTPS("/")} {
			t.Run(name, func(t *testing.T) {
				want(t, run(t, secure(t, site, url), zoo.Serve(t, zoo.SOCKS5In(reply)).URL("socks5h", "")), "pass")
			})
		}
	}
}

// Bytes of the target that come in one packet with the last reply belong to the tunnel.
func TestReplyTogetherWithData(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	each(t, request(refused), []behaviour{
		{"SOCKS5", zoo.Dialogue(nil, hello5, grant5+answer), "socks5h", "pass"},
		{"SOCKS4", zoo.Dialogue(nil, "\x00\x5a"+bound4+answer), "socks4a", "pass"},
		{"SOCKS4 with its version repeated", zoo.Dialogue(nil, "\x04\x5a"+bound4+answer), "socks4a", "pass"},
		{"RFC 1929 with the 5 repeated", zoo.Dialogue(nil, "\x05\x02", "\x05\x00", grant5+answer), "socks5h://a:b@", "pass"},
	})
}

// fakeResolver answers from a map; a missing name does not exist.
type fakeResolver struct {
	addrs map[string][]netip.Addr
	err   error
	asked []string
}

func (f *fakeResolver) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	f.asked = append(f.asked, host)
	if f.err != nil {
		return nil, f.err
	}
	if a := f.addrs[host]; a != nil {
		return a, nil
	}
	if host == "hang.example" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func TestWhereNamesAreResolved(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	socks := zoo.SOCKS(t, zoo.Options{})
	loopback := []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	for scheme, asked := range map[string]string{"socks5": zoo.Name, "socks4": zoo.Name, "socks5h": "", "socks4a": ""} {
		r := &fakeResolver{addrs: map[string][]netip.Addr{zoo.Name: loopback}}
		want(t, runWith(t, request(site.HTTP("/")), socks.URL(scheme, ""), checks.RunOptions{Resolver: r}), "pass")
		if strings.Join(r.asked, " ") != asked {
			t.Errorf("%s asked for %v", scheme, r.asked)
		}
	}
	r := checks.RunOptions{Resolver: &fakeResolver{}}
	want(t, runWith(t, request("http://nowhere.example/"), socks.URL("socks5", ""), r), "resolve name_not_found target")
	want(t, runWith(t, request("http://nowhere.example/"), socks.URL("socks4", ""), r), "resolve name_not_found target")
	want(t, runWith(t, request("http://[2001:db8::1]/"), socks.URL("socks4", ""), r), "tunnel address_unsupported proxy")
	want(t, runWith(t, request(site.HTTP("/")), "http://proxy.example:8080", r), "resolve name_not_found proxy")
	want(t, run(t, request("http://nowhere.invalid/"), socks.URL("socks5h", "")), "tunnel upstream_unreachable target")
	failing := func(d net.DNSError) checks.RunOptions { return checks.RunOptions{Resolver: &fakeResolver{err: &d}} }
	want(t, runWith(t, request(site.HTTP("/")), "http://proxy.example:8080", failing(net.DNSError{Err: "server misbehaving", IsTemporary: true})), "resolve resolver_error unknown")
	want(t, runWith(t, request(site.HTTP("/")), "http://proxy.example:8080", failing(net.DNSError{Err: "read udp: connection refused"})), "resolve resolver_error local")
	want(t, runWith(t, hurried(site.HTTP("/")), "http://hang.example:8080", r), "resolve timeout unknown")
}

func TestSecondAddressOfAProxyIsTried(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	p := zoo.ForwardProxy(t, zoo.Options{})
	r := &fakeResolver{addrs: map[string][]netip.Addr{"two.example": {netip.MustParseAddr("127.0.0.9"), netip.MustParseAddr("127.0.0.1")}}}
	ep := strings.Replace(p.URL("http", ""), "127.0.0.1", "two.example", 1)
	want(t, runWith(t, request(site.HTTP("/")), ep, checks.RunOptions{Resolver: r}), "pass")
}

func TestGuardSeesTheAddressReallyDialled(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	p := zoo.ForwardProxy(t, zoo.Options{})
	r := &fakeResolver{addrs: map[string][]netip.Addr{"proxy.example": {netip.MustParseAddr("::ffff:127.0.0.1")}}}
	guard := func(a netip.Addr) error {
		if a.IsLoopback() && a.Is4() {
			return net.ErrClosed
		}
		return nil
	}
	ep := strings.Replace(p.URL("http", ""), "127.0.0.1", "proxy.example", 1)
	want(t, runWith(t, request(site.HTTP("/")), ep, checks.RunOptions{Resolver: r, Guard: guard}), "connect forbidden proxy")
	if p.Accepted() != 0 {
		t.Error("it was dialled all the same")
	}
}

func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	o := checks.RunOptions{Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	begin := time.Now()
	v := runWith(t, hurried(refused), "http://192.0.2.1:8080", o)
	want(t, v, "connect timeout proxy")
	if took := time.Since(begin); took > 200*time.Millisecond {
		t.Errorf("took %s", took)
	}
}
