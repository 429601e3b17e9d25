package e2e_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/internal/zoo"
)

const canaryYAML = `
redis: {url: "REDIS"}
log: {level: debug}
checks:
  - name: c
    request:
      url: "TARGET/catalogue?key=canaryquery"
      headers: {Authorization: "Bearer canaryheader", Cookie: "session=canarycookie"}
      timeout: 3s
      tls: {ca_file: "CA"}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST", refresh: "@every 1s"}]
    recheck: 1s
    cooldown: {base: 1s, jitter: 0, reasons: {proxy_auth: {base: 1s}}}
`

// canaries are the secrets of the test, in every dress they may wear.
func canaries(passwords ...string) (all []string) {
	for _, p := range passwords {
		all = append(all, p, url.QueryEscape(p), url.PathEscape(p), strings.TrimPrefix(url.UserPassword("", p).String(), ":"))
		for _, user := range []string{"ann", "bob", ""} {
			all = append(all, base64.StdEncoding.EncodeToString([]byte(user+":"+p)))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// gossip is a proxy that repeats what it was told, all over its refusal.
func gossip(t *testing.T) *zoo.Server {
	return zoo.Serve(t, func(c net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		said := r.Header.Get("Proxy-Authorization")
		plain, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(said, "Basic "))
		body := fmt.Sprintf("you are %s, %s, and want %s", said, plain, r.RequestURI)
		fmt.Fprintf(c, "HTTP/1.1 407 No %s %s\r\nProxy-Authenticate: Basic realm=\"%s\"\r\nVia: 1.1 %s\r\nX-Squid-Error: %s\r\nContent-Length: %d\r\n\r\n%s",
			plain, said, plain, said, plain, len(body), body)
	})
}

func TestNoSecretIsToldAnywhere(t *testing.T) {
	t.Parallel()
	secrets := canaries("canaryone", "canary:/@%two", "canarythree", "canaryfour", "canaryfive", "canarysix", "canaryredis",
		"canaryquery", "canaryheader", "canarycookie")
	server := testenv.Redis(t, "--requirepass", "canaryredis")
	server = strings.Replace(server, "//", "//:canaryredis@", 1)
	client, open, shut, loud := testenv.Client(t, server), newDoor(t), newDoor(t), gossip(t)
	site := zoo.Target(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer canaryheader" || r.URL.RawQuery != "key=canaryquery" {
			t.Errorf("the target did not get what is meant for it: %v %v", r.URL, r.Header)
		}
		w.Header().Set("X-Seen", fmt.Sprint(r.Header, r.URL))
		fmt.Fprint(w, page, r.Header, r.URL)
	}))
	shut.Right("another")
	account := func(user, password, addr string) string {
		return (&url.URL{Scheme: "http", User: url.UserPassword(user, password), Host: addr}).String()
	}
	list := file(t, "list", strings.Join([]string{
		account("ann", "canaryone", open.Addr),                     // eligible
		account("ann", "canary:/@%two", shut.Addr),                 // refused
		account("bob", "canarythree", loud.Addr.String()),          // refused, loudly
		testenv.Nobody(t) + ":ann:canaryfour",                      // nobody listens
		account("ann", "canaryfive", open.Addr),                    // a duplicate with another password
		"http://bob:canarysix@:nowhere", "bob:canarysix@192.0.2.1", // refused lines
		"http://bob:canary six@192.0.2.1:99999", "ftp://bob:canarysix@192.0.2.1:80",
	}, "\n")+"\n")
	config := yaml(t, canaryYAML, "REDIS", server, "TARGET", "https://"+site.TLS.Addr.String(), "CA", site.CA.File(t, t.TempDir()), "LIST", list)

	clean := func(where, text string) {
		t.Helper()
		for _, s := range append(secrets, "canary six") {
			if at := strings.Index(text, s); at >= 0 {
				t.Errorf("%s tells %q: …%.300s", where, s, text[max(0, at-150):])
			}
		}
	}
	d := start(t, "--config", config, "--log-level", "debug")
	testenv.Eventually(t, 15*time.Second, "one eligible, three cooling", func() bool {
		counts := client.HGetAll(t.Context(), "proxyward:{c}:counts").Val()
		return counts["eligible"] == "1" && counts["cooling"] == "3"
	})
	id := "http://ann@" + open.Addr
	for _, args := range [][]string{
		{"validate"}, {"status"}, {"endpoints"}, {"explain", id}, {"explain", account("bob", "canarythree", loud.Addr.String())},
		{"explain", "http://ann@" + shut.Addr}, {"recheck", account("ann", "canaryone", open.Addr)}, {"recheck", "--all"},
		{"import", list}, {"import", "--dry-run", list}, {"probe", "--list", list}, {"probe", "-v", "--list", list},
		{"probe", "-v", "--endpoint", account("bob", "canarythree", loud.Addr.String())}, {"probe", "--endpoint", "http://bob:canarysix@:nowhere"},
		{"disable", "--note", "why not", id}, {"enable", id}, {"explain", "http://bob:canarysix@192.0.2.1:99999"}, {"fsck"},
		{"forget", account("ann", "canaryfour", "192.0.2.1:80")}, {"status", "--redis", strings.Replace(server, "canaryredis", "canarysix", 1)},
		{"canary" + "six:@"}, {"explain", "--chekc", "http://bob:canarysix@192.0.2.1:99999"},
	} {
		for _, more := range [][]string{nil, {"--json"}} {
			o := proxyward(t, append(append(args, "--config", config), more...)...)
			clean(fmt.Sprint(args, more, " on stdout"), o.out)
			clean(fmt.Sprint(args, more, " on stderr"), o.err)
		}
	}
	keys := client.Keys(t.Context(), "*").Val()
	for _, key := range keys {
		if !strings.HasSuffix(key, ":urls") {
			clean(key, key+" "+content(t, client, key))
		}
	}
	if len(keys) < 8 {
		t.Errorf("only these keys: %v", keys)
	}
	if urls := content(t, client, "proxyward:{c}:urls"); !strings.Contains(urls, "canaryone") {
		t.Errorf("the passwords are nowhere: %s", urls)
	}
	d.signal(15)
	d.wait(10 * time.Second)
	clean("the daemon on stdout", d.out.String())
	clean("the daemon on stderr", d.err.String())
}

// content is all that a key holds.
func content(t *testing.T, c *redis.Client, key string) string {
	t.Helper()
	ctx := t.Context()
	switch kind := c.Type(ctx, key).Val(); kind {
	case "hash":
		return fmt.Sprint(c.HGetAll(ctx, key).Val())
	case "zset":
		return fmt.Sprint(c.ZRangeWithScores(ctx, key, 0, -1).Val())
	case "list":
		return fmt.Sprint(c.LRange(ctx, key, 0, -1).Val())
	case "set":
		return fmt.Sprint(c.SMembers(ctx, key).Val())
	case "stream":
		return fmt.Sprint(c.XRange(ctx, key, "-", "+").Val())
	case "string":
		return c.Get(ctx, key).Val()
	case "none": // gone meanwhile
		return ""
	default:
		t.Errorf("%s is a %s: this test cannot read it", key, kind)
		return ""
	}
}
