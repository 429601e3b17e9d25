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
