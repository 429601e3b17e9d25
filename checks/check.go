package checks

import (
	"fmt"
	"time"
)

// Check is a compiled Spec: immutable, and safe for any number of probes at once.
type Check struct {
	name     string
	steps    []*step
	timeout  time.Duration // all steps together
	hasNonce bool
}

// step is one request with everything that is the same in every probe.
type step struct {
	name     string
	req      *template
	expect   *expectation
	timeouts Timeouts
	whole    time.Duration
	follow   int
	allowed  []string // origins that a redirect may lead to, the own one not among them
	http2    string
	target   *tlsPolicy
	proxy    *tlsPolicy
}

// The defaults of a request.
const (
	defaultTimeout   = 15 * time.Second
	defaultConnect   = 5 * time.Second
	defaultHandshake = 5 * time.Second
	defaultFirstByte = 8 * time.Second
	defaultHeaders   = 64 << 10
	defaultBody      = 256 << 10
)

// Compile validates a spec and prepares everything that does not change from probe to
// probe. Every fault is reported, joined, each as a *FieldError.
func Compile(spec Spec) (*Check, error) {
	var errs []error
	root := faults{"", &errs}
	c := &Check{name: spec.Name}
	if len(spec.Steps) == 0 {
		root.add("request", "no request: write at least request.url")
	}
	for i, s := range spec.Steps {
		f := root
		if len(spec.Steps) > 1 || s.Name != "" {
			f = root.below(fmt.Sprintf("steps[%d].", i))
		}
		st := compileStep(f, s)
		c.steps = append(c.steps, st)
		c.timeout += st.whole
		c.hasNonce = c.hasNonce || st.req.hasNonce
	}
	for i, st := range c.steps {
		if st.expect.hasNonce && !c.hasNonce {
			root.add("expect", "step %d expects {nonce}, but no request sends one: put {nonce} in a url, header or body", i+1)
		}
	}
	if len(errs) > 0 {
		return nil, root.join()
	}
	return c, nil
}

// Timeout is how long one probe may take at most, all steps together.
func (c *Check) Timeout() time.Duration { return c.timeout }

// Requests is how many requests one probe makes of the target, and how many with all the
// redirects it may follow.
func (c *Check) Requests() (least, most int) {
	for _, st := range c.steps {
		least, most = least+1, most+1+st.follow
	}
	return least, most
}

// Name is the name that the Spec gave.
func (c *Check) Name() string { return c.name }

func compileStep(f faults, s Step) *step {
	r := f.below("request.")
	st := &step{
		name:     s.Name,
		req:      compileRequest(r, s.Request),
		expect:   compileExpect(f.below("expect."), s.Expect),
		whole:    orDefault(r, "timeout", s.Request.Timeout, defaultTimeout),
		follow:   s.Request.FollowRedirects,
		http2:    s.Request.HTTP2,
		allowed:  compileOrigins(r, s.Request.RedirectTo),
		timeouts: compileTimeouts(r.below("timeouts."), s.Request.Timeouts),
	}
	if st.follow < 0 || st.follow > 20 {
		r.add("follow_redirects", "out of range: write a number from 0 to 20")
	}
	switch st.http2 {
	case "":
		st.http2 = "auto"
	case "auto", "never":
	case "require":
		if st.req.url != nil && st.req.url.Scheme == "http" {
			r.add("http2", "require needs an https url: HTTP/2 is agreed in the TLS handshake")
		}
	default:
		r.add("http2", "unknown value: write auto, never or require")
	}
	st.target = compileTLS(r.below("tls."), s.Request.TLS, st.http2)
	st.proxy = compileTLS(r.below("proxy_tls."), s.Request.ProxyTLS, "never")
	return st
}

func compileTimeouts(f faults, t Timeouts) Timeouts {
	return Timeouts{
		Connect:   orDefault(f, "connect", t.Connect, defaultConnect),
		Handshake: orDefault(f, "handshake", t.Handshake, defaultHandshake),
		FirstByte: orDefault(f, "first_byte", t.FirstByte, defaultFirstByte),
	}
}

func orDefault(f faults, field string, d, otherwise time.Duration) time.Duration {
	if d < 0 {
		f.add(field, "negative: write a duration over zero, for example %s", otherwise)
	}
	if d <= 0 {
		return otherwise
	}
	return d
}
