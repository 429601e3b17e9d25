package verdict

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write docs/verdicts.md anew")

const page = "../../docs/verdicts.md"

func TestEveryRowSpeaksTheWordsOfThisPackage(t *testing.T) {
	used := map[Reason]bool{}
	for _, e := range Table {
		used[e.Reason] = true
		if !slices.Contains(Reasons, e.Reason) {
			t.Errorf("%s: unknown reason %q", e.Name, e.Reason)
		}
		if !slices.Contains([]Blame{Proxy, Credentials, Target, Local, Unknown}, e.Blame) {
			t.Errorf("%s: unknown blame %q", e.Name, e.Blame)
		}
		if len(e.Stages) == 0 || e.Sentence == "" || strings.HasSuffix(e.Sentence, ".") || len(e.Sentence) > 150 {
			t.Errorf("%s: no stage, or a sentence that is none: %q", e.Name, e.Sentence)
		}
		for _, s := range e.Stages {
			if !slices.Contains(Stages, s) {
				t.Errorf("%s: unknown stage %q", e.Name, s)
			}
			if (e.Reason == LocalError) && e.Blame != Local {
				t.Errorf("%s: a local error must be blamed on us", e.Name)
			}
		}
	}
	for _, r := range Reasons {
		if !used[r] {
			t.Errorf("no event has reason %q", r)
		}
	}
}

func TestNoEventTwiceAtOneStage(t *testing.T) {
	seen := map[place]bool{}
	for _, e := range Table {
		for _, s := range e.Stages {
			if k := (place{s, e.Name}); seen[k] {
				t.Errorf("%s at %s stands twice", e.Name, s)
			} else {
				seen[k] = true
			}
		}
	}
}

func TestMakeCleansAndCuts(t *testing.T) {
	v := Make(Tunnel, "forbidden", "a\x00b\x1b[1m\r\nc\xff"+strings.Repeat("é", 300))
	if len(v.Detail) > MaxDetail || !utf8.ValidString(v.Detail) || strings.ContainsAny(v.Detail, "\x00\x1b\r\n") {
		t.Errorf("%q", v.Detail)
	}
	if v := Make(Verify, "no such thing", ""); v.Blame != Local {
		t.Errorf("an event of nowhere condemns: %+v", v)
	}
	if v := Make(Tunnel, "forbidden", ""); v.Class() != "tunnel.forbidden" {
		t.Error(v.Class())
	}
}

// The page is generated: go test ./checks/verdict -update
func TestVerdictsPageIsOfThisTable(t *testing.T) {
	want := renderPage()
	if *update {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the table says: run go test ./checks/verdict -update", page)
	}
}

func renderPage() []byte {
	var b bytes.Buffer
	b.WriteString(`# What a verdict says

<!-- generated from checks/verdict/events.go by go test ./checks/verdict -update -->

A probe passes, or its verdict names the first stage that failed, the reason, and who is to
blame. The table below is every event that leads to a verdict; the program makes its verdicts
from these rows and from nothing else. Failures are counted by class, ` + "`stage.reason`" + `.

Who is to blame decides what follows: a failure of the *proxy* or its *credentials* cools the
endpoint; one of the *target* leaves it where it is, but for 429, 403 and a wrong page, which are
true of this pair of proxy and target and cool it; a *local* one (our own fault) changes
nothing; *unknown*, where the wire does not tell, cools.

`)
	for _, s := range Stages {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n| reason | blame | what was seen | event |\n|---|---|---|---|\n", s, stageWords[s])
		for _, e := range Table {
			if slices.Contains(e.Stages, s) {
				fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` |\n", e.Reason, e.Blame, e.Sentence, e.Name)
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString(pageEnd)
	return b.Bytes()
}

var stageWords = map[Stage]string{
	Resolve:   "The proxy's name is resolved; with `socks4` and `socks5` the target's too, here. With `socks4a`, `socks5h`, `http` and `https` the proxy resolves it.",
	Connect:   "A TCP connection to the proxy.",
	ProxyTLS:  "TLS to the proxy itself (scheme `https`), with its own certificate check.",
	ProxyAuth: "The proxy's login: Basic (RFC 7617), user and password (RFC 1929), SOCKS4's user id.",
	Tunnel:    "The proxy is asked for a way to the target: CONNECT, or SOCKS. What a forward proxy itself says instead of forwarding stands here too.",
	TargetTLS: "TLS to the target, through the tunnel.",
	Request:   "The request is sent.",
	Headers:   "From the request's last byte to the end of the answer's head.",
	Body:      "The answer's body, decoded.",
	Verify:    "The whole answer is held against what the check expects.",
}

const pageEnd = `## Who looks the target's name up

| scheme | the target's name is resolved | addresses |
|---|---|---|
| ` + "`http` `https`" + ` | by the proxy: it stands in CONNECT or in the request line | IPv4, IPv6 |
| ` + "`socks5h`" + ` | by the proxy | IPv4, IPv6 |
| ` + "`socks4a`" + ` | by the proxy | IPv4 |
| ` + "`socks5`" + ` | here, before the proxy is asked | IPv4, IPv6 |
| ` + "`socks4`" + ` | here, to an IPv4 address | IPv4 |

That is curl's reading of the schemes. Other clients take ` + "`socks5`" + ` for ` + "`socks5h`" + `: write the one
that your workers mean, or the same list gives them other results, and names leak to the wrong
resolver. The proxy's own name is always resolved here. An address as the target is never
looked up; IPv6 through SOCKS4 is ` + "`tunnel.address_unsupported`" + `.

## Credentials

` + "`user:password@`" + ` in an endpoint's URL is percent-decoded and sent as it then is, in UTF-8:

- ` + "`http` and `https`" + `: Basic (RFC 7617), with the first request or CONNECT, not only after a 407. A
  user or a password may be empty; a colon in the user is refused when the list is read. A proxy that
  offers only Digest, NTLM, Negotiate or another scheme is ` + "`proxy_auth.auth_scheme_unsupported`" + `.
- ` + "`socks5` and `socks5h`" + `: "no login" and user with password (RFC 1929) are offered, and the proxy
  chooses; without credentials only "no login" is offered. Each has at most 255 bytes.
- ` + "`socks4` and `socks4a`" + `: the user is sent as the user id; there is no password.

They go to the proxy alone, never through a tunnel and never to the target.

## How blame is found

In this order, the most exact witness first:

1. The stage. What comes out of an established tunnel is the target's word, or that of somebody
   who stands in for it; never the proxy's.
2. The login statuses: 407; 401 to CONNECT; 403 with a challenge or a page that speaks of the login; 511.
3. ` + "`Proxy-Status`" + ` (RFC 9209): the last member with an error is the intermediary nearest to us.
4. ` + "`X-Squid-Error`" + ` with its page name and errno, and the error headers of other products.
5. Pages of TLS servers that were spoken to in plain HTTP.
6. The reason phrase and the page, where the proxy has signed them (` + "`Server`" + `, ` + "`Proxy-Agent`" + `, its own page).
7. The bare status. To CONNECT, 502 and 504 mean that the target was not reached; behind a forward
   proxy, with no mark of anyone, they are ` + "`unknown`" + `.

An answer in plain HTTP through a forward proxy that does not hold what the check expects is
taken for the proxy's, unless it has the marks of a service that guards targets.
`
