package checks

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"proxyward/checks/verdict"
)

// finding is what a message of a proxy turns out to mean: an event, at tunnel unless its
// stage says otherwise.
type finding struct {
	event string
	stage verdict.Stage
}

func (f finding) ok() bool { return f.event != "" }

func found(event string) finding { return finding{event, verdict.Tunnel} }

// refusal judges a status other than 2xx to CONNECT: every word of it is the proxy's. The
// most exact witness is heard first: the login statuses, RFC 9209, the products' own
// headers, their words, and last the bare status.
func (p *probe) refusal(h *head, page []byte) *failure {
	f := p.loginRefused(h, page)
	for _, witness := range []func(*head, []byte) finding{byProxyStatus, bySquid, byErrorHeader, byPlainToTLS, byStatusFirm, byWords, byStatus} {
		if f.ok() {
			break
		}
		f = witness(h, page)
	}
	return p.blame(f, h, page)
}

// blame makes the failure, with what the proxy itself said as its detail.
func (p *probe) blame(f finding, h *head, page []byte) *failure {
	fail := p.failAt(f.stage, f.event, said(h))
	if f.event == "rate_limited" || h.status == 503 {
		fail.retryAfter = retryAfter(h)
	}
	return fail
}

// said is the line in which a proxy gave its reason.
func said(h *head) string {
	line := "it answered " + itoa(h.status)
	if h.phrase != "" {
		line += " " + h.phrase
	}
	for _, name := range []string{"X-Squid-Error", "Proxy-Status"} {
		if v := h.get(name); v != "" {
			line += ", " + name + " " + v
		}
	}
	for _, name := range errorHeaders {
		if v := h.get(name); v != "" {
			return line + ", " + name + " " + v
		}
	}
	return line
}

// loginRefused finds a refused login: 407, 401 (a CONNECT has no other use for it), 511,
// and a 403 that speaks of a login.
func (p *probe) loginRefused(h *head, page []byte) finding {
	switch h.status {
	case 407:
	case 401:
	case 511: // RFC 6585 section 6: only a network in between may say so
		return finding{"auth_required", verdict.ProxyAuth}
	case 403:
		if !h.has("Proxy-Authenticate") && !(p.ep.HasCredentials() && saysLogin(h, page)) {
			return finding{}
		}
	default:
		return finding{}
	}
	return finding{p.loginEvent(h), verdict.ProxyAuth}
}

func (p *probe) loginEvent(h *head) string {
	offers := h.list("Proxy-Authenticate")
	if h.status != 407 {
		offers = append(offers, h.list("WWW-Authenticate")...)
	}
	switch {
	case len(offers) > 0 && !offersBasic(offers):
		return "auth_scheme_unsupported"
	case p.ep.HasCredentials():
		return "auth_rejected"
	}
	return "auth_required"
}

// offersBasic looks for the scheme Basic among the parts of challenges. A field may hold
// several challenges, with parameters between them (RFC 9110 section 11.6.1).
func offersBasic(parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool {
		word, _, _ := strings.Cut(part, " ")
		return word == "basic"
	})
}

// proxySpoke judges an answer to a request that the proxy itself has read: is this the
// proxy's own word? nil: it is the target's, or nothing tells.
func (p *probe) proxySpoke(h *head) *failure {
	if h.status == 407 || h.has("Proxy-Authenticate") && (h.status == 401 || h.status == 403) {
		return p.blame(finding{p.loginEvent(h), verdict.ProxyAuth}, h, nil)
	}
	if h.status == 511 {
		return p.blame(finding{"auth_required", verdict.ProxyAuth}, h, nil)
	}
	if h.status/100 == 3 {
		return p.portal(h)
	}
	if h.status < 400 || p.step.expect.wantsStatus(h.status) {
		return nil
	}
	if f := byProxyStatus(h, nil); f.ok() {
		return p.blame(f, h, nil)
	}
	if f := bySquid(h, nil); f.ok() {
		return p.blame(f, h, nil)
	}
	if f := byErrorHeader(h, nil); f.ok() {
		return p.blame(f, h, nil)
	}
	page := p.peekBody(h)
	if f := byPlainToTLS(h, page); f.ok() {
		return p.blame(f, h, page)
	}
	if h.status == 405 || h.status == 501 {
		// No target stands on a check's list that does not know the check's own method: this
		// is a proxy with nothing but CONNECT, or a web server that is no proxy.
		if m := p.req.method; m == "GET" || m == "HEAD" {
			return p.blame(found("method_unsupported"), h, page)
		}
	}
	if !signedByProxy(h, page) {
		return nil
	}
	if h.status == 401 || h.status == 403 && p.ep.HasCredentials() && saysLogin(h, page) {
		return p.blame(finding{p.loginEvent(h), verdict.ProxyAuth}, h, page)
	}
	for _, witness := range []func(*head, []byte) finding{byStatusFirm, byWords, byStatus} {
		if f := witness(h, page); f.ok() {
			return p.blame(f, h, page)
		}
	}
	return nil
}

// portal knows the redirects of captive portals and of a proxy's own error pages: they
// lead away from the target, to a place that asks for a login, that carries the wanted
// address along, or that is a bare private address.
func (p *probe) portal(h *head) *failure {
	to, err := p.req.url.Parse(h.get("Location"))
	if err != nil || h.get("Location") == "" || sameSite(to.Hostname(), p.req.origin.host) {
		return nil
	}
	if o, err := originOf(to); err == nil && p.step.follow > 0 && slices.Contains(p.step.allowed, o.String()) {
		return nil // the operator expects this one
	}
	host, rest := strings.ToLower(to.Hostname()), strings.ToLower(to.Path+"?"+to.RawQuery)
	plain, _ := url.QueryUnescape(rest)
	a, err := netip.ParseAddr(host)
	private := err == nil && (a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast())
	if private || h.has("X-Squid-Error") || signedByProxy(h, nil) || strings.Contains(plain, p.req.origin.host) ||
		slices.ContainsFunc(strings.FieldsFunc(host+rest, notLetter), func(word string) bool { return portalWords[word] }) {
		return p.failAt(verdict.Tunnel, "redirected", "to "+to.Scheme+"://"+to.Host)
	}
	return nil
}

// portalWords are whole words in the addresses of login and block pages.
var portalWords = map[string]bool{"login": true, "logon": true, "signin": true, "portal": true, "captive": true, "captiveportal": true,
	"hotspot": true, "auth": true, "authenticate": true, "block": true, "blocked": true, "blockpage": true, "denied": true,
	"wifi": true, "quota": true, "expired": true}

func notLetter(r rune) bool { return r < 'a' || r > 'z' }

// sameSite: one name is the other, or below it, or both are below one name of two labels
// that is not a common public suffix like co.uk.
func sameSite(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == b || strings.HasSuffix(a, "."+b) || strings.HasSuffix(b, "."+a) {
		return true
	}
	x, y := lastLabels(a), lastLabels(b)
	if _, err := netip.ParseAddr(a); err == nil || x != y {
		return false
	}
	second, _, _ := strings.Cut(x, ".")
	return len(second) > 3
}

func lastLabels(host string) string {
	i := strings.LastIndexByte(host, '.')
	if i < 0 {
		return host
	}
	return host[strings.LastIndexByte(host[:i], '.')+1:]
}
