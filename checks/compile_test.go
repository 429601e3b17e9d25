package checks_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"proxyward/checks"
)

// fields are the paths of all faults that Compile reports, sorted.
func fields(err error) []string {
	var out []string
	var walk func(error)
	walk = func(err error) {
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				walk(e)
			}
			return
		}
		var f *checks.FieldError
		if errors.As(err, &f) {
			out = append(out, f.Field)
		}
	}
	if err != nil {
		walk(err)
	}
	slices.Sort(out)
	return out
}

func TestCompileReportsEveryFaultAtOnce(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	os.WriteFile(empty, nil, 0o600)
	bad := checks.Step{
		Request: checks.Request{
			Method: "GE T", URL: "ftp://x/", Headers: map[string]string{"Proxy-Authorization": "x", "A b": "c", "X": "a\r\nb", "Connection": "x", "Host": "a b"},
			Timeout: -1, Timeouts: checks.Timeouts{Connect: -1}, FollowRedirects: -1, RedirectTo: []string{"https://ok.example", "https://x/path", "nonsense"},
			HTTP2: "maybe", TLS: checks.TLS{CAFile: "/does/not/exist", MinVersion: "1.1"}, ProxyTLS: checks.TLS{CAFile: empty, ServerName: "a b"},
		},
		Expect: checks.Expect{Status: []checks.StatusRange{{500, 200}}, BodyContains: []string{""}, BodyMatches: "(", BodySHA256: "abc",
			Headers: map[string]string{"X": "["}, MaxHeaders: -1, MaxBody: -1, MaxLatency: -1},
	}
	_, err := checks.Compile(checks.Spec{Steps: []checks.Step{bad}})
	want := []string{"expect.body_contains", "expect.body_matches", "expect.body_sha256", "expect.headers.X", "expect.max_body", "expect.max_headers",
		"expect.max_latency", "expect.status", "request.follow_redirects", "request.headers", "request.headers.Connection", "request.headers.Host",
		"request.headers.Proxy-Authorization", "request.headers.X", "request.http2", "request.method", "request.proxy_tls.ca_file",
		"request.proxy_tls.server_name", "request.redirect_to", "request.redirect_to", "request.timeout", "request.timeouts.connect",
		"request.tls.ca_file", "request.tls.min_version", "request.url"}
	if got := fields(err); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestCompileRefusesURLs(t *testing.T) {
	for _, url := range []string{"", "example.com", "http://", "http://:80/", "http://x:0/", "http://x:99999/", "http://user:canary@x/", "http://a b/", "http://x/\r\nA: b",
		"http://x/\x00", "://x", "http://{nonce}.x/", "http://[fe80::1%25eth0]/", "http://x:a/", "https://xn--\xff/"} {
		_, err := checks.Compile(request(url))
		if got := fields(err); len(got) != 1 || got[0] != "request.url" {
			t.Errorf("%q: %v", url, err)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("the password is in: %v", err)
		}
	}
	for _, url := range []string{"http://x", "HTTP://X.example:8080/?a=b#c", "https://bücher.example/ä?q=a b", "https://[2001:DB8::1]:8443/", "https://127.0.0.1/{nonce}?x={nonce}"} {
		if _, err := checks.Compile(request(url)); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestCompileOfSteps(t *testing.T) {
	if got := fields(second(checks.Compile(checks.Spec{}))); !slices.Equal(got, []string{"request"}) {
		t.Error(got)
	}
	steps := []checks.Step{{Request: checks.Request{URL: "http://x/"}}, {Request: checks.Request{URL: "nonsense", HTTP2: "require"}, Expect: checks.Expect{BodyContains: []string{"{nonce}"}}}}
	got := fields(second(checks.Compile(checks.Spec{Steps: steps})))
	if !slices.Equal(got, []string{"expect", "steps[1].request.url"}) {
		t.Error(got)
	}
	if got := fields(second(checks.Compile(checks.Spec{Steps: []checks.Step{{Request: checks.Request{URL: "http://x/", HTTP2: "require"}}}}))); !slices.Equal(got, []string{"request.http2"}) {
		t.Error(got)
	}
}

func second[A any](_ A, err error) error { return err }

func TestTimeoutIsThatOfAllSteps(t *testing.T) {
	c := compile(t, checks.Spec{Steps: []checks.Step{{Request: checks.Request{URL: "http://x/"}}, {Request: checks.Request{URL: "http://x/", Timeout: time.Second}}}})
	if c.Timeout() != 16*time.Second {
		t.Error(c.Timeout())
	}
}
