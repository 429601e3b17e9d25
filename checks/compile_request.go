package checks

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/idna"
)

// nonceMark is replaced by a fresh random word in each probe.
const nonceMark = "{nonce}"

// nonceStandIn takes the mark's place while a URL is parsed: braces would be escaped.
const nonceStandIn = "nonce-7f3a91c5e2d84b60"

// field is one header line of a request.
type field struct{ name, value string }

// template is a request before its nonce and its proxy are known.
type template struct {
	method   string
	url      *url.URL // host canonical, never with user or fragment; holds nonceStandIn for {nonce}
	origin   origin
	headers  []field // in a fixed order; Host is not among them
	host     string  // Host header or :authority
	body     string
	hasNonce bool
	ready    [2][]byte // the head as sent to the target and to a forward proxy, where no nonce is in it
	secrets  []string  // what of it must never be shown
}

// reserved are the headers that proxyward writes itself or that must never reach a target.
var reserved = map[string]string{
	"Proxy-Authorization": "it would reach the target: put the credentials into the endpoint",
	"Proxy-Connection":    "it is for the proxy, not for the target",
	"Connection":          "each probe uses one connection for one request",
	"Content-Length":      "it is computed from request.body",
	"Transfer-Encoding":   "the body is sent with its length",
	"Upgrade":             "a probe stays with HTTP",
	"Expect":              "a probe does not wait for 100",
	"Te":                  "a probe takes trailers anyway",
	"Keep-Alive":          "each probe uses one connection for one request",
}

func compileRequest(f faults, r Request) *template {
	t := &template{method: r.Method, body: r.Body}
	if t.method == "" {
		t.method = "GET"
	}
	if !httpguts.ValidHeaderFieldName(t.method) {
		f.add("method", "not an HTTP method: write GET, HEAD, POST or another token")
	} else if t.method == "CONNECT" {
		f.add("method", "CONNECT is for proxies: write the request that goes through the tunnel")
	}
	compileURL(f, t, r.URL)
	compileHeaders(f, t, r.Headers)
	t.hasNonce = strings.Contains(r.URL, nonceMark) || strings.Contains(t.body, nonceMark) || strings.Contains(t.host, nonceMark)
	for _, h := range t.headers {
		t.hasNonce = t.hasNonce || strings.Contains(h.value, nonceMark)
	}
	if t.url != nil {
		t.secrets = secretsOf(t)
		if !t.hasNonce {
			t.ready = [2][]byte{t.head(false, "", ""), t.head(true, "", "")}
		}
	}
	return t
}

func compileURL(f faults, t *template, raw string) {
	if raw == "" {
		f.add("url", "missing: write the address of the page to ask for, for example https://shop.example/")
		return
	}
	if strings.Contains(raw, nonceStandIn) {
		f.add("url", "%s is reserved", nonceStandIn)
		return
	}
	if !strings.Contains(raw, "://") {
		f.add("url", "no scheme: write http:// or https:// before it")
		return
	}
	u, err := url.Parse(strings.ReplaceAll(raw, nonceMark, nonceStandIn))
	if err != nil {
		f.add("url", "not a URL: %s", withoutURL(err))
		return
	}
	if u.User != nil {
		f.add("url", "user or password in it: write an Authorization header instead")
	}
	if strings.Contains(u.Host, nonceStandIn) {
		f.add("url", "{nonce} in the host: it may stand in the path or the query")
		return
	}
	o, err := originOf(u)
	if err != nil {
		f.add("url", "%s", err)
		return
	}
	t.origin, t.url = o, cleanURL(u, o)
	t.host = o.hostHeader()
}

func compileHeaders(f faults, t *template, headers map[string]string) {
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	seen := map[string]bool{}
	for _, name := range names {
		value := strings.Trim(headers[name], " \t")
		key := canonicalName(name)
		switch why, refused := reserved[key]; {
		case !httpguts.ValidHeaderFieldName(name):
			f.add("headers", "%q is not a header name", name)
		case refused:
			f.add("headers."+name, "not allowed here: %s", why)
		case seen[key]:
			f.add("headers."+name, "given twice")
		case !httpguts.ValidHeaderFieldValue(value):
			f.add("headers."+name, "control character in the value")
		case key == "Host" && (value == "" || !httpguts.ValidHostHeader(strings.ReplaceAll(value, nonceMark, ""))):
			f.add("headers."+name, "not a host: write host or host:port")
		case key == "Host":
			t.host = value
		default:
			t.headers = append(t.headers, field{name, value})
		}
		seen[key] = true
	}
	for _, d := range []field{{"User-Agent", "proxyward"}, {"Accept", "*/*"}} {
		if !seen[d.name] {
			t.headers = append(t.headers, d)
		}
	}
	if t.body != "" || t.method == "POST" || t.method == "PUT" || t.method == "PATCH" {
		length := len(strings.ReplaceAll(t.body, nonceMark, strings.Repeat("x", nonceLen)))
		t.headers = append(t.headers, field{"Content-Length", strconv.Itoa(length)})
	}
}

// compileOrigins reads the origins that a redirect may lead to.
func compileOrigins(f faults, list []string) []string {
	var out []string
	for _, raw := range list {
		u, err := url.Parse(raw)
		if err != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
			f.add("redirect_to", "%q is not an origin: write scheme://host or scheme://host:port", raw)
			continue
		}
		o, err := originOf(u)
		if err != nil {
			f.add("redirect_to", "%q: %s", raw, err)
			continue
		}
		out = append(out, o.String())
	}
	return out
}

func canonicalName(name string) string {
	b := []byte(strings.ToLower(name))
	upper := true
	for i, c := range b {
		if upper && 'a' <= c && c <= 'z' {
			b[i] = c - 32
		}
		upper = c == '-'
	}
	return string(b)
}

// hostASCII is the form of a URL's host that goes on the wire: IDNA names in ASCII, IPv6
// compressed and without brackets.
func hostASCII(host string) (string, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String(), a.Zone() == ""
	}
	ascii := strings.ToLower(host)
	if strings.IndexFunc(host, func(r rune) bool { return r > 0x7f }) >= 0 {
		var err error
		if ascii, err = idna.Lookup.ToASCII(host); err != nil {
			return "", false
		}
	}
	bad := ascii == "" || len(ascii) > 253 || strings.Trim(ascii, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != ""
	return ascii, !bad
}
