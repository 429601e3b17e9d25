package checks

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"

	"proxyward/checks/verdict"
)

// jar is the cookies of one probe; they never leave it.
type jar struct{ *cookiejar.Jar }

func (j *jar) header(u *url.URL) string {
	var parts []string
	for _, c := range j.Cookies(u) {
		parts = append(parts, c.Name+"="+c.Value)
	}
	return strings.Join(parts, "; ")
}

// keepCookies takes the answer's cookies where a later request of this probe can use them.
func (p *probe) keepCookies() {
	if len(p.check.steps) == 1 && p.step.follow == 0 {
		return
	}
	var list []*http.Cookie
	for _, line := range p.answer.head.all("Set-Cookie") {
		if c, err := http.ParseSetCookie(line); err == nil {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return
	}
	if p.jar == nil {
		j, err := cookiejar.New(nil)
		if err != nil {
			return
		}
		p.jar = &jar{j}
	}
	p.jar.SetCookies(p.req.url, list)
}

// visits are the requests made in one step: coming back to one with the same cookies is a loop.
type visits map[string]bool

// redirect is the next request, if the answer is a redirect that this step follows; nil:
// the answer stands. A redirect never leads to another origin unless it is listed.
func (p *probe) redirect(hop int, seen visits) (*template, *failure) {
	if seen != nil {
		seen[p.visit(p.req)] = true
	}
	p.keepCookies()
	h := &p.answer.head
	if p.step.follow == 0 || !slices.Contains([]int{301, 302, 303, 307, 308}, h.status) || !h.has("Location") {
		return nil, nil
	}
	p.enter(verdict.Verify, 0)
	to, away := p.leadsTo(h)
	u, err := p.req.url.Parse(h.get("Location"))
	if err != nil {
		return nil, p.fail("redirected", to)
	}
	o, err := originOf(u)
	if err != nil || o.String() != p.step.req.origin.String() && !slices.Contains(p.step.allowed, o.String()) {
		return nil, p.fail(pick(p.forward() && away, "redirected_forward", "redirected"), itoa(h.status)+" to "+to)
	}
	next := p.follow(cleanURL(u, o), o, h.status)
	if seen[p.visit(next)] {
		return nil, p.fail("redirect_loop", "back to "+to)
	}
	if hop >= p.step.follow {
		return nil, p.fail("redirect_loop", "more than "+itoa(p.step.follow))
	}
	return next, nil
}

func (p *probe) visit(t *template) string {
	return t.method + " " + t.url.String() + " " + p.cookies(t.url)
}

// follow is the request to where a redirect leads. POST becomes GET after 301, 302 and 303
// (RFC 9110 section 15.4); what proves who we are does not go to another origin.
func (p *probe) follow(u *url.URL, o origin, status int) *template {
	t := *p.req
	t.url, t.origin, t.hasNonce = u, o, true // built by hand: nothing is prepared for it
	t.headers = slices.Clone(t.headers)
	if status == 303 && t.method != "HEAD" || status < 303 && t.method == "POST" {
		t.method, t.body = "GET", ""
		t.headers = slices.DeleteFunc(t.headers, func(f field) bool {
			return strings.HasPrefix(canonicalName(f.name), "Content-")
		})
	}
	if o != p.req.origin {
		t.host = o.hostHeader()
		t.headers = slices.DeleteFunc(t.headers, func(f field) bool { return !harmless[canonicalName(f.name)] })
	}
	t.secrets = slices.Concat(p.req.secrets, secretsOf(&t))
	return &t
}
