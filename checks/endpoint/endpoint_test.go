package endpoint_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"proxyward/checks/endpoint"
)

func TestIDIsCanonical(t *testing.T) {
	for _, c := range []struct{ name, raw, id string }{
		{"plain", "http://192.0.2.1:8080", "http://192.0.2.1:8080"},
		{"scheme and host in lower case", "SOCKS5h://Proxy.Example:1080", "socks5h://proxy.example:1080"},
		{"https is a scheme of its own", "https://proxy.example:443", "https://proxy.example:443"},
		{"socks4", "socks4://192.0.2.1:1080", "socks4://192.0.2.1:1080"},
		{"socks4a with a user id", "socks4a://joe@proxy.example:1080", "socks4a://joe@proxy.example:1080"},
		{"the port is written even where it is the usual one", "http://proxy.example:80", "http://proxy.example:80"},
		{"one slash after the port", "http://proxy.example:80/", "http://proxy.example:80"},
		{"leading zeros of a port", "http://proxy.example:0080", "http://proxy.example:80"},
		{"lowest port", "http://proxy.example:1", "http://proxy.example:1"},
		{"highest port", "http://proxy.example:65535", "http://proxy.example:65535"},

		{"name beyond ASCII", "http://Bücher.example:80", "http://xn--bcher-kva.example:80"},
		{"name already in its ASCII form", "http://XN--BCHER-KVA.example:80", "http://xn--bcher-kva.example:80"},
		{"wide dot", "http://proxy。example:80", "http://proxy.example:80"},
		{"wide trailing dot", "http://proxy.example。:80", "http://proxy.example:80"},
		{"trailing dot", "http://proxy.example.:80", "http://proxy.example:80"},
		{"underscore", "http://my_proxy.example:80", "http://my_proxy.example:80"},
		{"single label", "http://squid:3128", "http://squid:3128"},
		{"label that begins with a digit", "http://1a.2b:80", "http://1a.2b:80"},

		{"IPv4 with a trailing dot", "http://192.0.2.1.:80", "http://192.0.2.1:80"},
		{"IPv4 in wide digits", "http://192.0.2.\uff11:80", "http://192.0.2.1:80"},
		{"IPv6 compressed", "http://[2001:0DB8:0:0:0:0:0:0001]:80", "http://[2001:db8::1]:80"},
		{"IPv6 loopback", "http://[0:0:0:0:0:0:0:1]:80", "http://[::1]:80"},
		{"IPv6 that carries an IPv4 address", "http://[::FFFF:c000:0201]:80", "http://[::ffff:192.0.2.1]:80"},

		{"user", "http://joe@h:1", "http://joe@h:1"},
		{"password left out", "http://joe:secret@h:1", "http://joe@h:1"},
		{"empty user left out", "http://@h:1", "http://h:1"},
		{"empty user and password left out", "http://:@h:1", "http://h:1"},
		{"empty password left out", "http://joe:@h:1", "http://joe@h:1"},
		{"password without a user left out", "http://:secret@h:1", "http://h:1"},
		{"case of the user kept", "http://JoE@h:1", "http://JoE@h:1"},
		{"escapes of plain letters undone", "http://%6aoe%2D1@h:1", "http://joe-1@h:1"},
		{"lower-case hex made upper", "http://a%2fb@h:1", "http://a%2Fb@h:1"},
		{"raw @ in the user", "http://joe@corp@h:1", "http://joe%40corp@h:1"},
		{"raw per cent sign in the user", "http://50%@h:1", "http://50%25@h:1"},
		{"half an escape in the user", "http://a%4@h:1", "http://a%254@h:1"},
		{"escape with a sign in the user", "http://a%+4@h:1", "http://a%25%2B4@h:1"},
		{"escaped per cent sign is decoded once", "http://a%2541@h:1", "http://a%2541@h:1"},
		{"colon in a SOCKS5 user", "socks5://a%3Ab@h:1", "socks5://a%3Ab@h:1"},
		{"user beyond ASCII", "http://zoë@h:1", "http://zo%C3%AB@h:1"},
		{"space and plus", "http://a b+c@h:1", "http://a%20b%2Bc@h:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := endpoint.Parse(c.raw)
			if err != nil {
				t.Fatalf("Parse(%q): %v", c.raw, err)
			}
			if e.ID() != c.id {
				t.Errorf("Parse(%q).ID() = %q, want %q", c.raw, e.ID(), c.id)
			}
		})
	}
}

func TestUserIsEncodedByteByByte(t *testing.T) {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	for c := range 256 {
		if c == '\r' || c == '\n' || c == 0 {
			continue
		}
		user := string([]byte{byte(c)})
		e, err := endpoint.New("socks5", user, "", "h:1")
		if err != nil {
			t.Errorf("user of byte %#02x: %v", c, err)
			continue
		}
		want := fmt.Sprintf("socks5://%%%02X@h:1", c)
		if strings.IndexByte(plain, byte(c)) >= 0 {
			want = "socks5://" + user + "@h:1"
		}
		if e.ID() != want {
			t.Errorf("user of byte %#02x: id %q, want %q", c, e.ID(), want)
		}
	}
}

func TestURLCarriesThePassword(t *testing.T) {
	for _, c := range []struct{ name, raw, user, password, url string }{
		{"user and password", "http://joe:secret@h:1", "joe", "secret", "http://joe:secret@h:1"},
		{"no user", "http://:secret@h:1", "", "secret", "http://:secret@h:1"},
		{"no password", "http://joe@h:1", "joe", "", "http://joe@h:1"},
		{"empty password", "http://joe:@h:1", "joe", "", "http://joe@h:1"},
		{"nothing before the @", "http://@h:1", "", "", "http://h:1"},
		{"raw @ and : in the password", "http://joe:a@b:c@h:1", "joe", "a@b:c", "http://joe:a%40b%3Ac@h:1"},
		{"escaped slash and per cent sign", "http://joe:a%2Fb%25c@h:1", "joe", "a/b%c", "http://joe:a%2Fb%25c@h:1"},
		{"raw per cent sign", "http://joe:100%@h:1", "joe", "100%", "http://joe:100%25@h:1"},
		{"password beyond ASCII", "http://joe:pässword@h:1", "joe", "pässword", "http://joe:p%C3%A4ssword@h:1"},
		{"password that is no UTF-8", "http://joe:%FF%FE@h:1", "joe", "\xff\xfe", "http://joe:%FF%FE@h:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := endpoint.Parse(c.raw)
			if err != nil {
				t.Fatal(err)
			}
			if e.User != c.user || e.Password() != c.password || e.URL() != c.url {
				t.Errorf("user %q password %q URL %q, want %q %q %q", e.User, e.Password(), e.URL(), c.user, c.password, c.url)
			}
			if got, want := e.HasCredentials(), c.user+c.password != ""; got != want {
				t.Errorf("HasCredentials() = %v, want %v", got, want)
			}
		})
	}
	if (endpoint.Endpoint{}).Password() != "" {
		t.Error("the zero endpoint has a password")
	}
}

// faults are bad endpoints, each with a part of the message that tells what is wrong.
var faults = []struct{ name, raw, want string }{
	{"empty", "", "no scheme"},
	{"no scheme", "proxy.example:80", "no scheme"},
	{"unknown scheme", "ftp://h:21", "unknown scheme"},
	{"empty scheme", "://h:1", "unknown scheme"},
	{"space before the scheme", " http://h:1", "unknown scheme"},
	{"no host", "http://:80", "no host"},
	{"a dot for a host", "http://.:80", "no host"},
	{"no port", "http://h", "no port"},
	{"no port after IPv6", "http://[::1]", "no port"},
	{"empty port", "http://h:", "bad port"},
	{"port 0", "http://h:0", "bad port"},
	{"port 65536", "http://h:65536", "bad port"},
	{"port with a plus", "http://h:+80", "bad port"},
	{"port with a minus", "http://h:-80", "bad port"},
	{"port with an underscore", "http://h:8_0", "bad port"},
	{"port with a space", "http://h:80 ", "bad port"},
	{"port in hex", "http://h:0x50", "bad port"},
	{"path", "http://h:1/x", "after the port"},
	{"two slashes", "http://h:1//", "after the port"},
	{"query", "http://h:1?x", "after the port"},
	{"query after the slash", "http://h:1/?x", "after the port"},
	{"fragment", "http://h:1#x", "after the port"},
	{"raw slash in the password", "http://joe:a/b@h:1", "before the @"},
	{"@ in a path", "http://h:1/@x:2", "before the @"},

	{"IPv4 with leading zeros", "http://192.0.02.1:1", "IPv4"},
	{"IPv4 in octal", "http://0177.0.0.1:1", "IPv4"},
	{"IPv4 of two parts", "http://127.1:1", "IPv4"},
	{"IPv4 of two parts in wide digits", "http://127.\uff11:1", "IPv4"},
	{"IPv4 of one number", "http://2130706433:1", "IPv4"},
	{"IPv4 in hex", "http://0x7f.1:1", "IPv4"},
	{"IPv4 in hex, last part", "http://127.0.0.0X1:1", "IPv4"},
	{"IPv4 with a bare 0x", "http://127.0.0.0x:1", "IPv4"},
	{"IPv4 beyond 255", "http://192.0.2.256:1", "IPv4"},
	{"IPv4 of five parts", "http://192.0.2.1.1:1", "IPv4"},
	{"name whose last label is a number", "http://proxy.1:1", "IPv4"},

	{"IPv6 without brackets", "http://2001:db8::1:1", "brackets"},
	{"IPv6 with half a bracket", "http://[::1:1", "brackets"},
	{"IPv6 with the other half", "http://::1]:1", "brackets"},
	{"something after the bracket", "http://[::1]x:1", "brackets"},
	{"IPv6 with a zone", "http://[fe80::1%eth0]:1", "IPv6"},
	{"IPv6 with an escaped zone", "http://[fe80::1%25eth0]:1", "IPv6"},
	{"IPv4 in brackets", "http://[192.0.2.1]:1", "IPv6"},
	{"empty brackets", "http://[]:1", "IPv6"},

	{"empty label", "http://a..b:1", "labels"},
	{"leading dot", "http://.a:1", "labels"},
	{"two trailing dots", "http://a..:1", "labels"},
	{"space in the host", "http://a b:1", "labels"},
	{"per cent sign in the host", "http://%41:1", "labels"},
	{"label of 64", "http://" + strings.Repeat("a", 64) + ":1", "labels"},
	{"name of 254", "http://" + strings.Repeat("a.", 126) + "aa:1", "253"},
	{"name without an ASCII form", "http://ü_x:1", "IDNA"},
	{"host that is no UTF-8", "http://\xff:1", "IDNA"},

	{"line feed in the user", "http://a%0Ab@h:1", "line break"},
	{"carriage return in the password", "http://a:b%0Dc@h:1", "line break"},
	{"NUL in a SOCKS4 user", "socks4://a%00b@h:1", "line break"},
	{"colon in an HTTP user", "http://a%3Ab:c@h:1", "RFC 7617"},
	{"SOCKS5 user of 256", "socks5://" + strings.Repeat("u", 256) + "@h:1", "RFC 1929"},
	{"SOCKS5 password of 256", "socks5h://u:" + strings.Repeat("p", 256) + "@h:1", "RFC 1929"},
	{"password with SOCKS4", "socks4a://u:p@h:1", "SOCKS4"},
	{"HTTP user of 1025", "http://" + strings.Repeat("u", 1025) + "@h:1", "1024"},
	{"SOCKS4 user of 1025", "socks4://" + strings.Repeat("u", 1025) + "@h:1", "1024"},
}

func TestBadEndpointsAreRefused(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			e, err := endpoint.Parse(c.raw)
			if err == nil {
				t.Fatalf("Parse(%q) = %s, want an error", c.raw, e)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse(%q): %q, want it to contain %q", c.raw, err, c.want)
			}
			if e != (endpoint.Endpoint{}) {
				t.Errorf("Parse(%q) returned %+v beside its error", c.raw, e)
			}
		})
	}
}

func TestLongestCredentialsAreAccepted(t *testing.T) {
	for scheme, n := range map[string]int{"http": 1024, "https": 1024, "socks5": 255, "socks5h": 255} {
		long := strings.Repeat("x", n)
		if _, err := endpoint.New(scheme, long, long, "h:1"); err != nil {
			t.Errorf("%s with %d bytes each: %v", scheme, n, err)
		}
	}
}

func TestAddrIsDialable(t *testing.T) {
	for raw, want := range map[string]string{
		"http://u:p@[2001:db8:0::1]:80": "[2001:db8::1]:80",
		"http://192.0.2.1:80":           "192.0.2.1:80",
		"http://Proxy.Example:80":       "proxy.example:80",
	} {
		e, err := endpoint.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if e.Addr() != want {
			t.Errorf("Parse(%q).Addr() = %q, want %q", raw, e.Addr(), want)
		}
	}
}

func TestNothingPrintsThePassword(t *testing.T) {
	const password = "hunter2hunter2"
	e, err := endpoint.New("http", "joe", password, "h:1")
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		Open   endpoint.Endpoint
		hidden endpoint.Endpoint
		ptr    *endpoint.Endpoint
	}
	values := map[string]any{
		"endpoint": e, "pointer": &e, "slice": []endpoint.Endpoint{e}, "map": map[string]endpoint.Endpoint{"k": e},
		"struct": holder{e, e, &e}, "pointer to struct": &holder{e, e, &e}, "error": errors.Join(fmt.Errorf("dial %v: refused", e)),
	}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%p", "%t", "%!", "%z", "%v %v", "%[2]v", "stray"} {
			if out := fmt.Sprintf(verb, v); leaks(out, password) {
				t.Errorf("%s with %s: %s", name, verb, out)
			}
		}
		if out := fmt.Sprint(v); leaks(out, password) {
			t.Errorf("%s with Sprint: %s", name, out)
		}
		out, err := json.Marshal(v)
		if err != nil || leaks(string(out), password) {
			t.Errorf("%s as JSON: %s, %v", name, out, err)
		}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", v)
		if leaks(log.String(), password) {
			t.Errorf("%s in a log: %s", name, log.String())
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if out := fmt.Sprintf(verb, e); out != "http://joe@h:1" {
			t.Errorf("%s writes %s, want the id", verb, out)
		}
	}
	if out, _ := json.Marshal(e); string(out) != `"http://joe@h:1"` {
		t.Errorf("JSON is %s, want the id", out)
	}
}

// leaks reports whether out shows the secret in the clear, in hex or byte by byte.
func leaks(out, secret string) bool {
	return strings.Contains(out, secret) || strings.Contains(out, fmt.Sprintf("%x", secret)) ||
		strings.Contains(out, strings.Trim(fmt.Sprint([]byte(secret)), "[]"))
}

var hosts = rapid.OneOf(
	rapid.StringMatching(`[A-Za-z0-9_-]{1,20}(\.[A-Za-z0-9_-]{1,20}){0,3}\.?[a-z]`),
	rapid.StringMatching(`(1?[0-9]?[0-9]\.){3}1?[0-9]?[0-9]`),
	rapid.StringMatching(`\[([0-9A-Fa-f]{1,4}:){7}[0-9a-f]{1,4}\]`),
	rapid.StringMatching(`[a-zäöüßéèαβ日本]{1,12}\.example`),
)

func TestAnIDIsReadBackAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scheme := rapid.SampledFrom(endpoint.Schemes).Draw(t, "scheme")
		bytes := rapid.OneOf(rapid.SliceOfN(rapid.ByteMin(1), 0, 40), rapid.Just([]byte(nil)))
		user, password := string(bytes.Draw(t, "user")), string(bytes.Draw(t, "password"))
		hostport := fmt.Sprintf("%s:%d", hosts.Draw(t, "host"), rapid.Uint16Min(1).Draw(t, "port"))
		e, err := endpoint.New(scheme, user, password, hostport)
		if err != nil {
			t.Skip(err)
		}
		if e.User != user || e.Password() != password {
			t.Fatalf("New changed the credentials: %q %q", e.User, e.Password())
		}
		back, err := endpoint.Parse(e.URL())
		if err != nil || back != e || back.Password() != password {
			t.Fatalf("Parse(%q) = %q, %v, want the same endpoint", e.URL(), back.URL(), err)
		}
		named, err := endpoint.Parse(e.ID())
		if err != nil || named.ID() != e.ID() || named.Password() != "" {
			t.Fatalf("Parse(%q) = %q, %v, want the same id and no password", e.ID(), named.URL(), err)
		}
	})
}
