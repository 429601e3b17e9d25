package checks_test

import (
	"net"
	"strings"
	"syscall"
	"testing"

	"proxyward/checks"
	"proxyward/internal/zoo"
)

func TestProxyAndTargetAtIPv6Addresses(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 loopback here; CI has it")
	}
	l.Close()
	site := zoo.Target6(t, nil)
	for scheme, p := range map[string]*zoo.Server{"http": zoo.ForwardProxy6(t, zoo.Options{}), "socks5h": zoo.SOCKS6(t, zoo.Options{})} {
		for _, url := range []string{site.HTTP("/"), site.HTTPS("/")} {
			url = strings.Replace(url, zoo.Name, "[::1]", 1)
			want(t, run(t, secure(t, site, url), p.URL(scheme, "")), "pass")
		}
	}
}

// Out of descriptors, for real: nobody else's fault.
func TestOutOfDescriptors(t *testing.T) {
	site := zoo.Target(t, nil)
	proxy := mustParse(t, zoo.ForwardProxy(t, zoo.Options{}).URL("http", ""))
	c := compile(t, request(site.HTTP("/")))
	want(t, c.Run(t.Context(), proxy, checks.RunOptions{}), "pass") // and the servers are accepting
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	none := old
	none.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	v := c.Run(t.Context(), proxy, checks.RunOptions{})
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	want(t, v, "connect local_error local")
	want(t, c.Run(t.Context(), proxy, checks.RunOptions{}), "pass")
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
