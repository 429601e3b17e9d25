package e2e_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/internal/zoo"
)

// speaks says which proxies a kit goes through, and for each who looks the target's name up: this
// host, or the proxy. docs/workers.md says the same.
var speaks = map[string]map[string]string{
	"go":       {"https": "proxy", "socks5": "proxy", "socks5h": "proxy"},
	"requests": {"https": "proxy", "socks4": "host", "socks4a": "proxy", "socks5": "host", "socks5h": "proxy"},
	"httpx":    {"https": "proxy", "socks5": "proxy", "socks5h": "proxy"},
	"node":     {"https": "proxy", "socks4": "host", "socks4a": "proxy", "socks5": "host", "socks5h": "proxy"},
	"shell":    {"https": "proxy", "socks4": "host", "socks4a": "proxy", "socks5": "host", "socks5h": "proxy"},
}

// Each kit through proxies of all kinds but http: pages come, names are looked up where the page
// says, a proxy that refuses the login or the connection is reported as such, and one whose
// scheme the kit does not speak is not blamed.
func TestTheKitsGoThroughEachKindOfProxy(t *testing.T) {
	t.Parallel()
	url, site := testenv.Redis(t), newTarget(t)
	login := zoo.Options{User: testenv.User, Password: testenv.Password, TLS: site.site.CA.ServerTLS(t, "127.0.0.1")}
	secure := testenv.Proxy{Addr: zoo.ForwardProxy(t, login).Addr.String(), Login: true}
	five := testenv.Microsocks(t, testenv.ProxyOptions{Login: true})
	named := testenv.Proxy{Addr: zoo.SOCKS(t, zoo.Options{}).Addr.String()} // and dante does not know 4a
	real := map[string]testenv.Proxy{"https": secure, "socks4": testenv.Dante(t, testenv.ProxyOptions{}), "socks4a": named, "socks5": five, "socks5h": five}
	knows := map[string]testenv.Proxy{"https": secure, "socks4": named, "socks4a": named, "socks5": named, "socks5h": named}
	as := func(p testenv.Proxy, scheme string) string { p.Scheme = scheme; return p.URL() }
	dead := five
	dead.Addr = testenv.Nobody(t)
	client := testenv.Client(t, url)
	for _, k := range kits {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			command := k.command(t)
			if k.name == "shell" { // curl has no variable for the CA of proxies
				command = []string{"/bin/sh", "-c", `. ../../examples/shell/worker.sh; fetch "$0" /dev/null --proxy-cacert "$CURL_CA_BUNDLE"`}
			}
			key := "proxyward:{" + k.name + "}:"
			fetch := func(proxy string, pages ...string) (codes []int) {
				t.Helper()
				id := testenv.WithoutPassword(proxy)
				client.Del(t.Context(), key+"eligible", key+"reports")
				client.ZAdd(t.Context(), key+"eligible", redis.Z{Member: id})
				client.HSet(t.Context(), key+"urls", id, proxy)
				for _, page := range pages {
					o := runWith(t, append([]string{"REDIS_URL=" + url, "CHECK=" + k.name, "PROXYWARD_LUA=../../store/lua",
						"SSL_CERT_FILE=" + site.CAFile, "REQUESTS_CA_BUNDLE=" + site.CAFile, "NODE_EXTRA_CA_CERTS=" + site.CAFile, "CURL_CA_BUNDLE=" + site.CAFile},
						k.env...), append(command, page, "1")...)
					if strings.Contains(o.out+o.err, testenv.Password) || strings.Contains(o.out+o.err, "wrong") {
						t.Errorf("a password is printed: %s%s", o.out, o.err)
					}
					if (o.code == 0) != strings.HasPrefix(o.out, "200") {
						t.Errorf("exit status %d\n%s%s", o.code, o.out, o.err)
					}
					codes = append(codes, o.code)
				}
				return codes
			}
			reported := func(want string) {
				t.Helper()
				got := "nothing"
				for _, e := range client.XRange(t.Context(), key+"reports", "-", "+").Val() {
					got = e.Values["stage"].(string) + "." + e.Values["reason"].(string)
				}
				if got != want {
					t.Errorf("reported: %s, not %s", got, want)
				}
			}
			for scheme := range real {
				resolves, can := speaks[k.name][scheme]
				codes := fetch(as(real[scheme], scheme), site.HTTP+"/good", site.HTTPS+"/good")
				if k.name == "httpx" && scheme == "https" {
					codes = codes[:1] // the rest takes httpcore 1.0.2
				}
				if (codes[0] == 0) != can || (codes[len(codes)-1] == 0) != can {
					t.Errorf("%s: exit status %v", scheme, codes)
				}
				reported("nothing")
				if codes := fetch(as(knows[scheme], scheme), site.site.HTTP("/good")); (codes[0] == 0) != (resolves == "proxy") {
					t.Errorf("%s, a name that the proxy alone knows: exit status %v", scheme, codes)
				}
			}
			fetch(five.As(testenv.User, "wrong"), site.HTTP+"/good")
			if k.name == "shell" {
				reported("tunnel.upstream_error") // curl does not say what it was
			} else {
				reported("proxy_auth.auth_rejected")
			}
			fetch(dead.URL(), site.HTTP+"/good")
			reported("connect.refused")
		})
	}
}
