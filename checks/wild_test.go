package checks_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/checks/verdict"
	"proxyward/internal/zoo"
	"proxyward/prober"
	"proxyward/scheduler/policy"
	"proxyward/store/record"
)

// What a verdict does to an eligible endpoint under the policy that a check has when its
// author says nothing.
const (
	kept    = "kept"    // no mark against it
	cooled  = "cooled"  // out for half a minute at first
	longOut = "longOut" // out for ten minutes at first: such things hardly heal
	ours    = "ours"    // as if never probed
)

func defaultPolicy() policy.Policy {
	return policy.Policy{Rise: 1, Fall: 1, Confirm: 10 * time.Second, Recheck: 5 * time.Minute, Tick: time.Second,
		Cooldown: policy.Cooldown{Rule: policy.Rule{Base: 30 * time.Second, Factor: 2, Max: 30 * time.Minute}}}
}

func judge(t *testing.T, rec record.Record, v verdict.Verdict) record.Transition {
	t.Helper()
	tr, err := policy.Next(rec, policy.Result{Verdict: v, AtMs: 1_700_000_000_000, Dice: 0.5}, defaultPolicy())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func fate(t *testing.T, v verdict.Verdict) string {
	t.Helper()
	tr := judge(t, record.Record{State: record.Eligible}, v)
	switch {
	case tr.GiveBack:
		return ours
	case tr.To == record.Eligible:
		return kept
	case tr.To != record.Cooling:
		return string(tr.To)
	case tr.Next.PauseMs >= (10 * time.Minute).Milliseconds():
		return longOut
	}
	return cooled
}

// wild are the things that public bug reports tell of proxies, targets and probers, in the
// order of our log; behaviours of the zoo show each, and fate is what follows.
var wild = []struct {
	what string
	fate string
	zoo  []string // family/name
}{
	{"CONNECT answered in HTTP/1.0 with a status line alone", kept, []string{"grants/HTTP/1.0 status line and nothing else", "grants/HTTP/1.0 status line and nothing else, in single bytes"}},
	{"CONNECT answered with header lines behind the status", kept, []string{"grants/Via and Proxy-Connection after the status"}},
	{"CONNECT granted in words that are not the usual ones", kept, []string{"grants/OK instead of Connection established", "grants/another 2xx", "grants/non-ASCII reason phrase"}},
	{"CONNECT granted with a length of nothing", kept, []string{"grants/Content-Length 0", "grants/a Content-Length that is not meant", "grants/Transfer-Encoding chunked"}},
	{"CONNECT granted by three digits and no phrase", kept, []string{"grants/status line ends after the digits", "grants/blank after the digits"}},
	{"CONNECT granted in lines that end by LF", kept, []string{"grants/lines end by LF alone"}},

	{"SOCKS replies in pieces, or in one packet with data", kept, []string{"SOCKS framing/SOCKS5", "SOCKS framing/SOCKS4", "SOCKS framing/both replies in one packet"}},
	{"a packed body that net/http would hand over as it is", kept, []string{"decoding/gzip unasked, through a tunnel", "decoding/brotli, by a forward proxy", "decoding/zstd, by a forward proxy"}},
	{"early hints before the answer", kept, []string{"good bodies/early hints first, by a forward proxy", "good bodies/100 first, through a tunnel", "HTTP/2/early hints first"}},
	{"early hints without end", kept, []string{"drips/interim answers and nothing more, through a tunnel", "drips/100 and then silence, by a forward proxy", "error answers/interim answers in a flood, through a tunnel"}},

	{"the proxy's own name has no address", cooled, []string{"places/a proxy whose name does not exist"}},
	{"nobody answers the SYN", cooled, []string{"places/a listener with a full queue"}},
	{"reset or closed right after the accept", cooled, []string{"places/reset right after accept", "places/closed right after accept", "places/closed right after accept, SOCKS5", "places/closed right after accept, SOCKS4"}},

	{"an HTTP proxy behind a socks5 URL", longOut, []string{"SOCKS framing/HTTP behind socks5", "SOCKS framing/HTTP behind socks4"}},
	{"SOCKS4 and SOCKS5 mixed up", longOut, []string{"SOCKS framing/SOCKS4 answers a SOCKS5 client", "SOCKS framing/SOCKS5 answers a SOCKS4 client"}},
	{"an ordinary web server in the list", longOut, []string{"refusals/400 of an ordinary web server", "refusals/405", "error answers/bare 405 to GET, by a forward proxy"}},
	{"a proxy that wants TLS to itself", longOut, []string{"wrong protocol/nginx: plain request to the HTTPS port", "wrong protocol/TLS alert to a plain request", "error answers/plain request to the HTTPS port, by a forward proxy"}},
	{"an https proxy whose own certificate is expired or misnamed", cooled, []string{"TLS to the proxy/expired", "TLS to the proxy/for another name"}},

	{"407 to CONNECT", longOut, []string{"credentials/407 without credentials", "credentials/407 with credentials"}},
	{"407 to GET, as if it were the target's", longOut, []string{"error answers/407, by a forward proxy"}},
	{"only logins that we do not speak", longOut, []string{"credentials/only NTLM and Negotiate", "credentials/only Digest", "credentials/only Kerberos and no credentials"}},
	{"0xFF to the methods offered", longOut, []string{"SOCKS logins/0xFF to no login"}},
	{"a SOCKS login refused with any number, or by a close", longOut, []string{"SOCKS logins/login refused with 1", "SOCKS logins/login refused with 2", "SOCKS logins/login refused with 255", "SOCKS logins/login answered by a close"}},

	{"403 to CONNECT because of the port", longOut, []string{"refusals/403", "squid/squid: a port that is not safe", "products/tinyproxy: port not allowed"}},
	{"a proxy without CONNECT, or with nothing else", longOut, []string{"refusals/405", "refusals/501", "error answers/a proxy that has only CONNECT, by a forward proxy"}},
	{"squid tells why in a header", kept, []string{"squid/squid: refused", "squid/squid: no such name"}},
	{"squid tells that it may not", longOut, []string{"squid/squid: denied"}},
	{"502 and 504 to CONNECT", kept, []string{"refusals/502 and nothing more", "refusals/504"}},
	{"a captive portal", cooled, []string{"refusals/captive portal", "error answers/captive portal, by a forward proxy"}},
	{"header lines in a flood", cooled, []string{"CONNECT framing/header lines without end", "CONNECT framing/one line without end"}},
	{"a byte now and then at the proxy", cooled, []string{"drips/CONNECT: a byte now and then", "drips/TLS to the proxy: a byte now and then", "drips/SOCKS: SOCKS5 a byte now and then", "drips/SOCKS: SOCKS4 a byte now and then", "drips/SOCKS: login a byte now and then"}},
	{"a byte now and then in the tunnel", cooled, []string{"drips/TLS to the target: a byte now and then", "drips/head a byte now and then, through a tunnel", "drips/body a byte now and then, through a tunnel", "HTTP/2/body a byte now and then"}},
	{"a tunnel granted and then closed or reset at the hello", cooled, []string{"tunnels/closed at the ClientHello", "tunnels/reset at the ClientHello"}},
	{"a proxy that loses the first byte", cooled, []string{"tunnels/the first byte is lost", "tunnels/the first two bytes are lost"}},

	{"SOCKS5 codes that speak of the target", kept, []string{"SOCKS codes/SOCKS5 reply 4", "SOCKS codes/SOCKS5 reply 5", "SOCKS codes/SOCKS5 reply 6"}},
	{"SOCKS5 codes that speak of the proxy", cooled, []string{"SOCKS codes/SOCKS5 reply 1", "SOCKS codes/SOCKS5 reply 3", "SOCKS codes/SOCKS5 reply 8"}},
	{"SOCKS5 codes that speak of what it never does", longOut, []string{"SOCKS codes/SOCKS5 reply 2", "SOCKS codes/SOCKS5 reply 7"}},
	{"SOCKS4's one word for every failure", kept, []string{"SOCKS codes/SOCKS4 says 91", "SOCKS codes/SOCKS4 refusal of two bytes"}},

	{"a proxy that opens the TLS with a CA of its own", longOut, []string{"TLS to the target/untrusted", "TLS to the target/expired and untrusted"}},
	{"the target's own certificate is expired or misnamed", kept, []string{"TLS to the target/expired", "TLS to the target/for another name"}},
	{"the target refuses, in the words of each product", kept, []string{"squid/squid: refused", "Proxy-Status/RFC 9209: refused", "products/goproxy: dial error", "products/node: connect refused", "SOCKS codes/SOCKS5 reply 5", "error answers/squid: refused, by a forward proxy"}},
	{"the target takes the request and does not answer", kept, []string{"drips/silent, through a tunnel", "heads/close instead of an answer, through a tunnel", "heads/reset instead of an answer, through a tunnel", "HTTP/2/silent", "HTTP/2/close"}},
	{"a body shorter than declared", kept, []string{"bodies/body shorter than its length, through a tunnel", "bodies/chunked without the last chunk, by a forward proxy", "HTTP/2/body shorter than its length"}},

	{"200 with a page of the proxy's own", cooled, []string{"content/quota used up, with 200, by a forward proxy", "content/nothing at all, by a forward proxy"}},
	{"somebody in front answers in the target's place", cooled, []string{"content/header missing, by a forward proxy", "content/header mismatch, by a forward proxy"}},
	{"the target keeps this exit out", cooled, []string{"error answers/403, through a tunnel", "content/a guard before the target, by a forward proxy", "content/body excludes, through a tunnel"}},
	{"5xx out of a tunnel", kept, []string{"error answers/500, through a tunnel", "error answers/502 that anybody may have said, through a tunnel", "HTTP/2/502"}},
	{"5xx with the proxy's own mark", kept, []string{"error answers/tinyproxy: cannot connect, by a forward proxy", "error answers/a proxy's own 502, by a forward proxy"}},
	{"a redirect to another host", kept, []string{"redirects followed/to another site, through a tunnel", "redirects followed/to itself, by a forward proxy", "error answers/302 to another site, through a tunnel"}},
}

func TestWild(t *testing.T) {
	t.Parallel()
	cage := newCage(t)
	known := map[string]zoo.Behaviour{}
	for _, b := range zoo.Behaviours() {
		known[b.Family+"/"+b.Name] = b
	}
	for _, w := range wild {
		t.Run(w.what, func(t *testing.T) {
			t.Parallel()
			for _, name := range w.zoo {
				b, ok := known[name]
				if !ok {
					t.Fatalf("no behaviour %q", name)
				}
				v := cage.run(t, b)
				want(t, v, b.Want)
				if f := fate(t, v); f != w.fate {
					t.Errorf("%s: %s: the endpoint is %s, want %s", name, says(v), f, w.fate)
				}
			}
		})
	}
}

// The rest of the log: what depends on more than one message of one peer.
func TestWildCredentials(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	good := func(t *testing.T, user, password, userinfo string) {
		o := zoo.Options{User: user, Password: password}
		web, socks := zoo.ForwardProxy(t, o), zoo.SOCKS(t, o)
		for _, url := range []string{site.HTTP("/"), site.HTTPS("/")} {
			for _, proxy := range []string{web.URL("http", userinfo), socks.URL("socks5h", userinfo)} {
				v := run(t, secure(t, site, url), proxy)
				want(t, v, "pass")
				if fate(t, v) != kept {
					t.Error(fate(t, v))
				}
			}
		}
		if web.Accepted() != 2 {
			t.Errorf("%d connections for two probes", web.Accepted())
		}
	}
	t.Run("a proxy that closes after its 407 gets the login at once", func(t *testing.T) { good(t, "ann", "secret", "ann:secret") })
	t.Run("signs that divide a URL in user and password", func(t *testing.T) { good(t, "a@n/", "p@s:s/w%", "a%40n%2F:p%40s%3As%2Fw%25") })
	t.Run("a password that is not ASCII", func(t *testing.T) { good(t, "ann", "pässwörd€", "ann:p%C3%A4ssw%C3%B6rd%E2%82%AC") })
	t.Run("only a user", func(t *testing.T) { good(t, "ann", "", "ann") })
	t.Run("an empty password", func(t *testing.T) { good(t, "ann", "", "ann:") })
	t.Run("only a password", func(t *testing.T) { good(t, "", "secret", ":secret") })
	t.Run("a percent sign in a SOCKS login", func(t *testing.T) { good(t, "50%", "100%", "50%25:100%25") })
}

func TestWildNames(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	socks, web := zoo.SOCKS(t, zoo.Options{}), zoo.ForwardProxy(t, zoo.Options{})
	for scheme, here := range map[string]bool{"socks5": true, "socks4": true, "socks5h": false, "socks4a": false, "http": false} {
		t.Run("who looks the target up with "+scheme, func(t *testing.T) {
			r := &fakeResolver{addrs: map[string][]netip.Addr{zoo.Name: {netip.MustParseAddr("127.0.0.1")}}}
			proxy := socks
			if scheme == "http" {
				proxy = web
			}
			want(t, runWith(t, request(site.HTTP("/")), proxy.URL(scheme, ""), checks.RunOptions{Resolver: r}), "pass")
			if (len(r.asked) > 0) != here {
				t.Errorf("looked up here: %v", r.asked)
			}
		})
	}
}

func TestWildAuthorities(t *testing.T) {
	t.Parallel()
	strict := zoo.Serve(t, func(c net.Conn) {
		b := make([]byte, 4096)
		n, _ := c.Read(b)
		head := string(b[:n])
		if strings.Contains(head, "\r\nHost: [::1]:") && strings.HasPrefix(head, "CONNECT [::1]:") {
			fmt.Fprint(c, "HTTP/1.1 204 good\r\n\r\n")
			return
		}
		fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
	})
	t.Run("CONNECT without Host, or to a bare IPv6 address, is refused", func(t *testing.T) {
		v := run(t, request("https://[::1]/"), strict.URL("http", ""))
		if v.Stage != verdict.TargetTLS { // past the tunnel
			t.Errorf("%s (%s)", says(v), v.Detail)
		}
	})
}

func TestWildProber(t *testing.T) {
	site := zoo.Target(t, nil)
	web := zoo.ForwardProxy(t, zoo.Options{})
	t.Run("a target on loopback is not reached without the proxy", func(t *testing.T) {
		t.Setenv("NO_PROXY", "127.0.0.1,localhost,"+zoo.Name)
		want(t, run(t, request("http://"+site.Plain.Addr.String()+"/"), web.URL("http", "")), "pass")
		want(t, run(t, request("http://"+site.Plain.Addr.String()+"/"), "http://"+zoo.Refused(t).String()), "connect refused proxy")
		for _, a := range site.Plain.Sources() {
			if a.String() != zoo.ProxySource {
				t.Errorf("reached from %s", a)
			}
		}
	})
	t.Run("a limit with a date is kept to", func(t *testing.T) {
		p := zoo.Serve(t, zoo.Say("HTTP/1.1 429 x\r\nDate: Mon, 02 Jan 2006 15:04:05 GMT\r\nRetry-After: Mon, 02 Jan 2006 16:04:05 GMT\r\n\r\n"))
		v := run(t, request("https://target.test/"), p.URL("http", ""))
		want(t, v, "tunnel rate_limited proxy")
		if tr := judge(t, record.Record{State: record.Eligible}, v); tr.To != record.Cooling || tr.Next.PauseMs < time.Hour.Milliseconds() {
			t.Errorf("%s for %d ms", tr.To, tr.Next.PauseMs)
		}
	})
	t.Run("a 407 now and then withdraws nobody for good", func(t *testing.T) {
		var n atomic.Int32
		flaky := zoo.Serve(t, func(c net.Conn) {
			if n.Add(1)%2 == 1 {
				zoo.Say("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\n\r\n")(c)
				return
			}
			zoo.Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")(c)
		})
		rec := record.Record{State: record.Eligible}
		for range 3 {
			rec = judge(t, rec, run(t, request("http://target.test/"), flaky.URL("http", "a:b"))).Next
			if rec.State != record.Cooling {
				t.Fatal(rec.State)
			}
			rec = judge(t, rec, run(t, request("http://target.test/"), flaky.URL("http", "a:b"))).Next
			if rec.State != record.Eligible || len(rec.Classes) > 0 {
				t.Fatal(rec.State, rec.Classes)
			}
		}
	})
	t.Run("no two passwords of one user at once", func(t *testing.T) {
		g := prober.NewGate()
		right, wrong := mustParse(t, "http://ann:secret@192.0.2.1:1"), mustParse(t, "http://ann:wrong@192.0.2.1:1")
		if !g.Enter(right, 9) || g.Enter(wrong, 9) || !g.Enter(right, 9) {
			t.Error("the gate lets both in, or not the same one twice")
		}
	})
	t.Run("an outage of the target condemns nobody", func(t *testing.T) {
		for _, answer := range []http.HandlerFunc{
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		} {
			down := zoo.Target(t, answer)
			if f := fate(t, run(t, secure(t, down, down.HTTPS("/")), web.URL("http", ""))); f != kept {
				t.Errorf("the endpoint is %s", f)
			}
		}
	})
}

// One target is not asked by all at once.
func TestWildManyProxiesOneTarget(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	site := zoo.Target(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		now.Add(-1)
	}))
	web := zoo.ForwardProxy(t, zoo.Options{})
	c, p := compile(t, request(site.HTTP("/"))), prober.New(4)
	var probes sync.WaitGroup
	for range 40 {
		if err := p.Acquire(context.Background()); err != nil {
			t.Fatal(err)
		}
		probes.Go(func() {
			defer p.Release(1)
			want(t, p.Probe(context.Background(), c, mustParse(t, web.URL("http", "")), checks.RunOptions{}), "pass")
		})
	}
	probes.Wait()
	if most.Load() > 4 {
		t.Errorf("%d at once", most.Load())
	}
}
