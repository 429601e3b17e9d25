package checks

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
)

// Run is one probe: one whole transaction of the check through one endpoint. It returns
// within the check's timeout whatever the peers do, with every descriptor closed. A
// cancelled or expired ctx ends it at once with reason local_error: that is our doing.
func (c *Check) Run(ctx context.Context, ep endpoint.Endpoint, opts RunOptions) verdict.Verdict {
	p := probes.Get().(*probe)
	p.begin(ctx, c, ep, opts)
	fail := p.steps()
	v := p.verdict(fail)
	p.release()
	return v
}

// probe is one transaction in progress. It is used by one goroutine and comes from a pool.
type probe struct {
	ctx   context.Context
	check *Check
	ep    endpoint.Endpoint
	opts  RunOptions
	nonce string

	step *step
	req  *template // the step's, or a redirect's
	jar  *jar

	targetAddr netip.Addr // for SOCKS, where the name is not left to the proxy

	tcp     net.Conn     // the TCP connection as it was dialled
	raw     net.Conn     // the same, watched; it has the deadlines
	conn    net.Conn     // what is spoken through: raw, or TLS, or TLS in TLS
	hellos  [2]helloConn // under the TLS to the proxy and to the target
	inTLS   bool         // the target itself is spoken to in TLS
	through bool         // a tunnel stands: whatever comes is the target's word
	got     int64        // bytes received on raw
	gotAt   time.Time

	start, whole, stageAt time.Time
	stage                 verdict.Stage
	spent                 [maxStages]time.Duration
	entered               [maxStages]bool
	stageGot              int64     // got, when the stage began
	limited               time.Time // the deadline that raw has
	graceEnd              time.Time // deadlines before it are moved to it
	graced                time.Duration

	interims int // 1xx heads seen before the final one
	answer   answer
	buf      []byte // what has been read of the current head, and what follows it
	out      []byte // what is being written
	body     []byte
}

const maxStages = 10

// Buffers above this are not kept: one huge page must not stay in memory for ever.
const keepBuffer = 64 << 10

var probes = sync.Pool{New: func() any { return &probe{buf: make([]byte, 0, 4096), out: make([]byte, 0, 1024)} }}

func (p *probe) begin(ctx context.Context, c *Check, ep endpoint.Endpoint, opts RunOptions) {
	buf, out, body := p.buf[:0], p.out[:0], p.body[:0]
	*p = probe{ctx: ctx, check: c, ep: ep, opts: opts, buf: buf, out: out, body: body}
	p.start = time.Now()
	if c.hasNonce {
		p.nonce = newNonce()
	}
}

func (p *probe) release() {
	buf, out, body := p.buf[:0], p.out[:0], p.body[:0]
	if cap(buf) > keepBuffer {
		buf = make([]byte, 0, 4096)
	}
	if cap(body) > keepBuffer {
		body = nil
	}
	*p = probe{buf: buf, out: out, body: body}
	probes.Put(p)
}

func (p *probe) steps() *failure {
	for _, st := range p.check.steps {
		p.step, p.req = st, st.req
		p.whole = time.Now().Add(st.whole)
		if fail := p.runStep(); fail != nil {
			return fail
		}
	}
	return nil
}

// runStep makes the step's request, and those its redirects lead to.
func (p *probe) runStep() *failure {
	began := time.Now()
	var seen visits
	if p.step.follow > 0 {
		seen = visits{}
	}
	for hop := 0; ; hop++ {
		if fail := p.exchangeOnce(); fail != nil {
			return fail
		}
		next, fail := p.redirect(hop, seen)
		if fail != nil {
			return fail
		}
		if next == nil {
			break
		}
		p.req = next
	}
	return p.verify(time.Since(began))
}

// exchangeOnce is one connection from its dialling to its close.
func (p *probe) exchangeOnce() *failure {
	fail := p.once()
	if fail != nil && fail.retry && !p.cancelled() {
		fail = p.once()
	}
	return fail
}

func (p *probe) once() *failure {
	defer p.close()
	p.inTLS, p.through = false, false
	if fail := p.resolveTarget(); fail != nil {
		return fail
	}
	if fail := p.reach(); fail != nil {
		return fail
	}
	if _, watched := p.tcp.(interface{ watchesContext() }); !watched {
		defer context.AfterFunc(p.ctx, interrupter(p.raw))()
	}
	if fail := p.transact(); fail != nil {
		return fail
	}
	return nil
}

// interrupter makes whatever waits on the connection return at once.
func interrupter(c net.Conn) func() {
	return func() { c.SetDeadline(time.Unix(1, 0)) }
}

// transact goes through the stages after the connection stands.
func (p *probe) transact() *failure {
	if p.ep.Scheme == "https" {
		if fail := p.proxyTLS(); fail != nil {
			return fail
		}
	}
	if fail := p.tunnel(); fail != nil {
		return fail
	}
	if p.req.origin.secure {
		if fail := p.targetTLS(); fail != nil {
			return fail
		}
	}
	return p.ask()
}

// tunnel asks the proxy for a way to the target, where the scheme has such a thing.
func (p *probe) tunnel() *failure {
	switch p.ep.Scheme {
	case "socks4", "socks4a":
		return p.socks4()
	case "socks5", "socks5h":
		return p.socks5()
	}
	if p.req.origin.secure {
		return p.httpConnect()
	}
	return nil
}

// forward reports whether the proxy itself reads the request: then what comes back may be
// its own word.
func (p *probe) forward() bool { return !p.through }

func (p *probe) close() {
	if p.raw != nil {
		p.raw.Close()
		p.tcp, p.raw, p.conn = nil, nil, nil
	}
}

func (p *probe) cookies(u *url.URL) string {
	if p.jar == nil {
		return ""
	}
	return p.jar.header(u)
}
