package checks

import (
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"strings"
)

// nonceLen is the length of a nonce: 16 of 32 letters are 80 bits.
const nonceLen = 16

func newNonce() string {
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	var b [nonceLen]byte
	lo, hi := rand.Uint64(), rand.Uint64()
	for i := range b {
		if i == nonceLen/2 {
			lo = hi
		}
		b[i] = letters[lo&31]
		lo >>= 5
	}
	return string(b[:])
}

// head is the request's head without its last blank line, so that a forward proxy's
// credentials can follow. forward selects the absolute form (RFC 9112 section 3.2.2).
// cookies are those of the probe's jar; they share one line with the check's own (RFC 6265
// section 5.4).
func (t *template) head(forward bool, nonce, cookies string) []byte {
	b := make([]byte, 0, 512)
	b = append(append(b, t.method...), ' ')
	if forward {
		b = append(append(append(b, t.url.Scheme...), "://"...), t.url.Host...)
	}
	b = append(b, fill(t.url.RequestURI(), nonce)...)
	b = append(append(append(b, " HTTP/1.1\r\nHost: "...), fill(t.host, nonce)...), "\r\n"...)
	for _, h := range t.allHeaders(cookies) {
		b = append(append(append(append(b, h.name...), ": "...), fill(h.value, nonce)...), "\r\n"...)
	}
	return append(b, "Connection: close\r\n"...)
}

func (t *template) allHeaders(cookies string) []field {
	if cookies == "" {
		return t.headers
	}
	out := make([]field, 0, len(t.headers)+1)
	for _, h := range t.headers {
		if strings.EqualFold(h.name, "Cookie") {
			cookies = h.value + "; " + cookies
			continue
		}
		out = append(out, h)
	}
	return append(out, field{"Cookie", cookies})
}

// fill puts the nonce where a template has its mark.
func fill(s, nonce string) string {
	if nonce == "" {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, nonceStandIn, nonce), nonceMark, nonce)
}

// basic is the value of Proxy-Authorization (RFC 7617 section 2, in UTF-8).
func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// harmless are the request headers whose values may be shown.
var harmless = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Cache-Control": true, "Content-Length": true,
	"Content-Type": true, "Pragma": true, "User-Agent": true, "Connection": true, "Host": true,
}

// secretsOf lists the parts of a request that may be secret: unknown headers, query
// values, the body. They are masked in whatever is shown, echoes by a peer included.
func secretsOf(t *template) []string {
	var out []string
	keep := func(s string) {
		if len(s) >= 4 && s != nonceMark && s != nonceStandIn {
			out = append(out, s)
		}
	}
	for _, h := range t.headers {
		if harmless[canonicalName(h.name)] {
			continue
		}
		keep(h.value)
		for _, word := range strings.FieldsFunc(h.value, func(r rune) bool { return r == ' ' || r == ';' || r == ',' || r == '=' }) {
			if len(word) >= 8 {
				keep(word)
			}
		}
	}
	for pair := range strings.SplitSeq(t.url.RawQuery, "&") {
		_, value, _ := strings.Cut(pair, "=")
		keep(value)
		if plain, err := url.QueryUnescape(value); err == nil && plain != value {
			keep(plain)
		}
	}
	keep(t.body)
	return out
}
