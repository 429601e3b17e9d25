package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"proxyward/internal/embedded"
	"proxyward/internal/testenv"
)

// TestNoOutputHoldsAPassword runs a daemon with debug logs and every command beside it,
// with passwords in the list, in arguments and in the Redis URL, and looks for them in
// whatever is written, the URL of allocate apart.
func TestNoOutputHoldsAPassword(t *testing.T) {
	const proxyPassword, redisPassword = "canary-pr0xy+/@:", "canary-r3dis"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(answerGood)}
	defer server.Close()
	go server.Serve(l)
	redis, err := embedded.Start("embedded://127.0.0.1:0", embedded.Login{Password: redisPassword})
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()

	at, dead := l.Addr().String(), "127.0.0.1:1"
	escaped := url.UserPassword("joe", proxyPassword).String()
	good, out := "http://"+escaped+"@"+at, "socks5h://"+escaped+"@"+dead
	list := listFile(t, good, out, "joe:"+proxyPassword+"@no..host:1", "a line with "+proxyPassword)
	redisURL := "redis://:" + redisPassword + "@" + redis.Addr() + "/0"
	secrets := []string{proxyPassword, redisPassword, url.QueryEscape(proxyPassword), url.PathEscape(proxyPassword),
		strings.TrimPrefix(escaped, "joe:"), base64.StdEncoding.EncodeToString([]byte("joe:" + proxyPassword))}
	clean := func(what, text string) {
		for _, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("%s tells a password:\n%s", what, text)
			}
		}
	}

	daemon := start(t, "run", "--list", list, "--target", "http://target.example/", "--redis", redisURL, "--log-level", "debug")
	testenv.Eventually(t, 20*time.Second, "both are judged", func() bool {
		return strings.Contains(oneShot(t, "status", "--redis", redisURL, "--json"), `{"candidate":0,"cooling":1,"disabled":0,"eligible":1,`)
	})
	for _, args := range [][]string{
		{"status"}, {"status", "--json"}, {"endpoints"}, {"endpoints", "--json"}, {"explain", good}, {"explain", out, "--json"},
		{"explain", "http://" + escaped + "@unknown.example:1"}, {"explain", "http://" + escaped + "@bad host:1"}, {"explain", good, "extra " + proxyPassword},
		{"recheck", good, "--json"}, {"disable", out, "--note", "x", "--json"}, {"enable", out}, {"disable", good + "/path"},
		{"import", list, "--json"}, {"import", list, "--dry-run"}, {"fsck", "--json"}, {"fsck"}, {"forget", "http://" + escaped + "@unknown.example:1"},
		{"purge", "--check", "default"}, {"status", "--check", "other"}, {good}, {"status", good},
	} {
		clean(strings.Join(args[:1], " "), oneShot(t, append(args, "--redis", redisURL)...))
	}
	for _, args := range [][]string{
		{"probe", "-e", good, "--target", "http://target.example/", "-v"}, {"probe", "-e", out, "--target", "http://target.example/", "--json", "-v"},
		{"probe", "--list", list, "--target", "http://target.example/", "-v"}, {"probe", "-e", "x" + good, "--target", "http://target.example/"},
		{"probe", "-e", good, "--target", "ftp://joe:" + redisPassword + "@target.example/"},
		{"status", "--redis", redisURL + "/%zz"}, {"status", "--redis", "redis://:" + redisPassword + "@127.0.0.1:1/0"},
		{"status", "--redis", "redis://:" + redisPassword + "x@" + redis.Addr() + "/0"},
		{"run", "--list", list, "--target", "http://x/", "--redis", "embedded://:" + redisPassword + "@127.0.0.1:x"},
		{"run", "--list", list, "--target", "http://x/", "--redis", "redis//:" + redisPassword + "@127.0.0.1:1"},
	} {
		clean(strings.Join(args[:2], " "), oneShot(t, args...))
	}
	if text := oneShot(t, "allocate", "--redis", redisURL); !strings.Contains(text, strings.TrimPrefix(escaped, "joe:")[:6]) {
		t.Errorf("allocate gives no URL with a password: %s", text)
	}
	if code := daemon.end(); code != exitYes {
		t.Errorf("the daemon ended with %d", code)
	}
	clean("run", daemon.out.String())
	if !strings.Contains(daemon.out.String(), "joe@") && !strings.Contains(daemon.out.String(), "list applied") {
		t.Errorf("the daemon's log tells nothing: this test looks at the wrong text:\n%s", daemon.out.String())
	}
}

// oneShot runs one command line in this process and returns all it wrote.
func oneShot(t *testing.T, args ...string) string {
	t.Helper()
	var all bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &all, err: &all, getenv: func(string) string { return "" }}
	a.run(context.Background(), args)
	return all.String()
}
