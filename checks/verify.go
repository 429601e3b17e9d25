package checks

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"time"

	"proxyward/checks/verdict"
)

// verify holds the whole answer against what the step expects: status, headers, body,
// and last the time it took.
func (p *probe) verify(took time.Duration) *failure {
	p.enter(verdict.Verify, 0)
	x := p.step.expect
	if !x.wantsStatus(p.answer.status) {
		return p.wrongStatus(&p.answer.head)
	}
	if fail := p.verifyHeaders(x); fail != nil {
		return fail
	}
	if fail := p.verifyBody(x); fail != nil {
		return fail
	}
	if x.maxLatency > 0 && took > x.maxLatency {
		return p.fail("too_slow", took.Round(time.Millisecond).String()+" of "+x.maxLatency.String())
	}
	return nil
}

func (p *probe) wrongStatus(h *head) *failure {
	forward := p.forward()
	more := itoa(h.status)
	if h.phrase != "" {
		more += " " + h.phrase
	}
	var fail *failure
	switch {
	case h.status == 429:
		fail = p.fail("rate_limited", "")
	case h.status/100 == 3 && h.has("Location"):
		to, away := p.leadsTo(h)
		fail = p.fail(pick(forward && away, "redirected_forward", "redirected"), more+" to "+to)
	// 502 and 504 are a gateway's words, 400 those of a web server that is no proxy; a 503 is
	// the target's own as well.
	// A 401 without a challenge breaks RFC 9110 section 15.5.2; some proxies refuse a login so.
	case forward && h.status == 401 && !h.has("WWW-Authenticate"):
		fail = p.fail("http_status_forward", more)
	case forward && (h.status == 502 || h.status == 504 || h.status == 400) && !guardedTarget(h):
		fail = p.fail("http_status_forward", more)
	default:
		fail = p.fail("http_status", more)
	}
	if h.status == 429 || h.status == 503 {
		fail.retryAfter = retryAfter(h)
	}
	return fail
}

// leadsTo is where a redirect goes, without its query, and whether that is another site.
func (p *probe) leadsTo(h *head) (string, bool) {
	u, err := p.req.url.Parse(h.get("Location"))
	if err != nil {
		return "an address that is none", false
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath(), !sameSite(u.Hostname(), p.req.origin.host)
}

func (p *probe) verifyHeaders(x *expectation) *failure {
	for _, want := range x.headers {
		re := want.with(p.nonce)
		values := p.answer.head.all(want.name)
		if len(values) == 0 {
			return p.fail(pick(p.writable(), "header_missing_forward", "header_missing"), want.name)
		}
		matched := re.MatchString(strings.Join(values, ", "))
		for _, v := range values {
			matched = matched || re.MatchString(v)
		}
		if !matched {
			if want.nonce != "" {
				return p.fail(pick(p.forward(), "stale_forward", "stale"), "")
			}
			return p.fail(pick(p.writable(), "header_mismatch_forward", "header_mismatch"), want.name)
		}
	}
	return nil
}

// verifyBody looks first for what does not depend on the nonce: only a page that is right
// but for the nonce is a stored copy.
func (p *probe) verifyBody(x *expectation) *failure {
	var stale bool
	for _, want := range x.contains {
		if !bytes.Contains(p.body, []byte(fill(want, p.nonce))) {
			if !strings.Contains(want, nonceMark) {
				return p.wrongContent("not in it: " + want)
			}
			stale = true
		}
	}
	if m := x.matches; m != nil && !m.with(p.nonce).Match(p.body) {
		if m.nonce == "" {
			return p.wrongContent("body_matches does not match")
		}
		stale = true
	}
	for _, not := range x.excludes {
		if bytes.Contains(p.body, []byte(fill(not, p.nonce))) {
			return p.fail(pick(p.writable(), "content_excluded_forward", "content_mismatch"), "in it: "+not)
		}
	}
	if x.sha256 != nil && sha256.Sum256(p.body) != [32]byte(x.sha256) {
		return p.wrongContent("its SHA-256 is another one")
	}
	if stale {
		return p.fail(pick(p.forward(), "stale_forward", "stale"), "")
	}
	return nil
}

func (p *probe) wrongContent(more string) *failure {
	return p.fail(pick(p.writable(), "content_mismatch_forward", "content_mismatch"), more)
}

// writable reports whether a wrong page is held to be the proxy's: it could write it, and
// nothing shows that the target's own guards did.
func (p *probe) writable() bool { return p.forward() && !guardedTarget(&p.answer.head) }

// guardedTarget knows the marks of the services that stand before targets and keep robots out.
func guardedTarget(h *head) bool {
	for _, name := range []string{"Cf-Ray", "Cf-Mitigated", "X-Datadome", "X-Amzn-Waf-Action", "X-Amz-Cf-Id", "X-Akamai-Request-Id", "X-Sucuri-Id", "X-Iinfo", "X-Px-Block"} {
		if h.has(name) {
			return true
		}
	}
	return containsAny(strings.ToLower(h.get("Server")), "cloudflare", "akamaighost", "datadome", "imperva", "ddos-guard", "qrator")
}
