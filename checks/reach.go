package checks

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"proxyward/checks/verdict"
)

// maxAddrs bounds how many addresses of one name are tried.
const maxAddrs = 4

// reach finds the proxy and connects to it. Names that this scheme resolves here are
// resolved first, the target's too: no proxy is bothered for a name without an address.
func (p *probe) reach() *failure {
	if strings.ContainsAny(p.ep.User+p.ep.Password(), "\r\n\x00") {
		return p.failAt(verdict.Resolve, "bad_endpoint", "")
	}
	addr, err := netip.ParseAddr(p.ep.Host)
	if err == nil {
		return p.connect([]netip.Addr{addr})
	}
	p.enter(verdict.Resolve, p.step.timeouts.Connect)
	addrs, fail := p.lookup("ip", p.ep.Host, "name_not_found")
	if fail != nil {
		return fail
	}
	return p.connect(addrs)
}

// lookup asks the resolver inside the running stage's deadline.
func (p *probe) lookup(network, host, absent string) ([]netip.Addr, *failure) {
	ctx, cancel := context.WithDeadline(p.ctx, p.limited)
	defer cancel()
	r := p.opts.Resolver
	if r == nil {
		r = net.DefaultResolver
	}
	addrs, err := r.LookupNetIP(ctx, network, host)
	if err == nil && len(addrs) > 0 {
		return addrs[:min(len(addrs), maxAddrs)], nil
	}
	if f := p.local(err); f != nil {
		return nil, f
	}
	var d *net.DNSError
	switch {
	case err == nil || errors.As(err, &d) && d.IsNotFound:
		return nil, p.fail(absent, host)
	case ctx.Err() != nil:
		return nil, p.fail("timeout", "")
	case d != nil && strings.Contains(d.Err, "server misbehaving"):
		return nil, p.fail("resolver_refused", "")
	}
	return nil, p.fail("resolver_failed", "")
}

// connect tries the addresses in turn, each with its share of the time that is left. What
// the first one said counts, unless it was our own fault and a later one knew more.
func (p *probe) connect(addrs []netip.Addr) *failure {
	left := p.step.timeouts.Connect - p.spent[stageIndex[verdict.Resolve]]
	p.enter(verdict.Connect, max(left, time.Millisecond))
	end := p.limited
	var first *failure
	for i, a := range addrs {
		share := time.Until(end) / time.Duration(len(addrs)-i)
		fail := p.dial(netip.AddrPortFrom(a.Unmap(), p.ep.Port), time.Now().Add(share))
		if fail == nil {
			return nil
		}
		if first == nil || verdict.Make(first.stage, first.event, "").Blame == verdict.Local {
			first = fail
		}
		if p.cancelled() {
			break
		}
	}
	return first
}

func (p *probe) dial(addr netip.AddrPort, end time.Time) *failure {
	if p.opts.Guard != nil {
		if err := p.opts.Guard(addr.Addr()); err != nil {
			return p.fail("guarded", addr.Addr().String())
		}
	}
	if a := addr.Addr(); a.IsMulticast() || a.Is4() && a.As4()[0] >= 240 {
		return p.fail("unreachable", a.String()+" is no host's address")
	}
	p.trace("note", "connect to "+addr.String())
	ctx := p.ctx
	var c net.Conn
	var err error
	if p.opts.Dial != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(p.ctx, end)
		c, err = p.opts.Dial(ctx, addr)
		cancel()
	} else {
		c, err = dialTCP(ctx, addr, end, p.req.origin.secure || p.ep.Scheme == "https")
	}
	if err != nil {
		return p.notConnected(err)
	}
	p.tcp, p.raw = c, &watched{Conn: c, p: p}
	p.conn = p.raw
	p.limited = time.Time{}
	return nil
}

func (p *probe) notConnected(err error) *failure {
	var ours *localDialError
	switch {
	case p.cancelled():
		return p.fail("cancelled", "")
	case errors.As(err, &ours) && isUnreachableErrno(err):
		return p.fail("no_route", "")
	case isRefusedErrno(err):
		return p.fail("refused", "")
	case isUnreachableErrno(err):
		return p.fail("unreachable", "")
	case isResetErrno(err): // a reset to our SYN is "refused": this one came after the accept
		return p.failAt(p.afterConnect(), "reset", "")
	}
	return p.broken(err, ending{})
}

// afterConnect is the stage in which the proxy is spoken to first.
func (p *probe) afterConnect() verdict.Stage {
	if p.ep.Scheme == "https" {
		return verdict.ProxyTLS
	}
	return verdict.Tunnel
}

// localDialError marks an error that came from our own side before a packet was sent.
type localDialError struct{ err error }

func (e *localDialError) Error() string { return e.err.Error() }
func (e *localDialError) Unwrap() error { return e.err }

// early gives bytes that were read ahead to whoever reads next.
type early struct {
	net.Conn
	buf []byte
}

func (e *early) Read(b []byte) (int, error) {
	if len(e.buf) > 0 {
		n := copy(b, e.buf)
		e.buf = e.buf[n:]
		return n, nil
	}
	return e.Conn.Read(b)
}
