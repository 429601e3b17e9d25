package checks

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"

	"proxyward/checks/verdict"
)

// proxyTLS speaks TLS to the proxy itself (scheme https).
func (p *probe) proxyTLS() *failure {
	p.enter(verdict.ProxyTLS, p.step.timeouts.Handshake)
	_, fail := p.handshake(p.step.proxy, p.ep.Host, false)
	return fail
}

// targetTLS speaks TLS to the target through the tunnel.
func (p *probe) targetTLS() *failure {
	p.enter(verdict.TargetTLS, p.step.timeouts.Handshake)
	c, fail := p.handshake(p.step.target, p.req.origin.host, true)
	if fail != nil {
		return fail
	}
	if p.step.http2 == "require" && c.ConnectionState().NegotiatedProtocol != "h2" {
		return p.fail("no_h2", "")
	}
	p.inTLS = true
	return nil
}

func (p *probe) handshake(policy *tlsPolicy, name string, keep bool) (*tls.Conn, *failure) {
	wide := policy.wide.Load()
	hello := &p.hellos[b2i(keep)]
	*hello = helloConn{Conn: p.conn}
	c := tls.Client(hello, policy.config(name, keep))
	if err := c.Handshake(); err != nil {
		fail := p.tlsFailure(err, hello)
		// A peer that knows none of the key exchanges that we offer first gets all of
		// them, from now on, and this probe one more try.
		if fail.event == "tls_alert" && !wide && refusesOffer(err) {
			policy.wide.Store(true)
			fail.retry = true
		}
		return nil, fail
	}
	p.conn = c
	if p.opts.Trace != nil {
		s := c.ConnectionState()
		p.trace("note", tls.VersionName(s.Version)+" "+tls.CipherSuiteName(s.CipherSuite)+" "+s.CurveID.String()+" alpn="+or(s.NegotiatedProtocol, "none")+
			pick(s.DidResume, " resumed", ""))
	}
	return c, nil
}

// helloConn remembers the first byte of the peer's answer to our hello: whoever breaks off
// before a whole record may not have been speaking TLS at all.
type helloConn struct {
	net.Conn
	first byte
	heard bool
}

func (h *helloConn) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	if n > 0 && !h.heard {
		h.first, h.heard = b[0], true
	}
	return n, err
}

// foreign reports whether what came is neither a handshake nor an alert (RFC 8446 section 5.1).
func (h *helloConn) foreign() bool { return h.heard && h.first != 0x16 && h.first != 0x15 }

func refusesOffer(err error) bool {
	text := err.Error()
	return strings.Contains(text, "handshake failure") || strings.Contains(text, "insufficient security") || strings.Contains(text, "illegal parameter")
}

// tlsFailure tells the ways in which a handshake ends without one.
func (p *probe) tlsFailure(err error, hello *helloConn) *failure {
	var cert *certError
	var record tls.RecordHeaderError
	var op *net.OpError
	switch {
	case errors.As(err, &cert):
		return p.fail(cert.event, cert.more)
	case errors.As(err, &record):
		return p.fail("not_tls", p.quote(record.RecordHeader[:]))
	case hello.foreign() && p.local(err) == nil:
		return p.fail("not_tls", p.quote([]byte{hello.first}))
	case errors.As(err, &op) && op.Op == "remote error":
		if strings.Contains(op.Err.Error(), "protocol version") {
			return p.fail("tls_version", "")
		}
		alert := strings.TrimPrefix(op.Err.Error(), "tls: ")
		return p.fail(pick(p.stage == verdict.TargetTLS && damaged(alert), "tls_damaged", "tls_alert"), alert)
	case strings.Contains(err.Error(), "unsupported protocol version"), strings.Contains(err.Error(), "selected unsupported"):
		return p.fail("tls_version", "")
	case strings.HasPrefix(err.Error(), "tls: "), errors.As(err, &op) && op.Op == "local error":
		return p.fail("tls_malformed", strings.TrimPrefix(err.Error(), "tls: "))
	}
	names := ending{}
	if p.stage == verdict.TargetTLS && p.silent() {
		names.timeout = "silent"
	}
	if isNetError(err) {
		return p.broken(err, names)
	}
	return p.fail("tls_malformed", err.Error())
}

// damaged knows the alerts (RFC 8446 section 6) that our messages, which are well formed when
// they leave, can only have earned on the way.
func damaged(alert string) bool {
	return containsAny(alert, "unexpected message", "bad record MAC", "record overflow", "error decoding message", "decryption failed", "error decrypting message")
}

// tlsBroke finds the faults of TLS that show only after the handshake: in TLS 1.3 a server
// judges the client's certificate, or the lack of one, when the client is through already.
func (p *probe) tlsBroke(err error) *failure {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" && op.Op != "local error" {
		return nil
	}
	inner := verdict.ProxyTLS
	if p.inTLS {
		inner = verdict.TargetTLS
	}
	switch {
	case op.Op == "remote error":
		return p.failAt(inner, "tls_alert", strings.TrimPrefix(op.Err.Error(), "tls: "))
	case p.inTLS && (p.stage == verdict.Headers || p.stage == verdict.Body):
		return p.fail("tls_garbled", strings.TrimPrefix(op.Err.Error(), "tls: "))
	}
	return p.failAt(inner, "tls_malformed", strings.TrimPrefix(op.Err.Error(), "tls: "))
}

func isNetError(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || timedOut(err) || isResetErrno(err) || isUnreachableErrno(err) ||
		isResourceErrno(err) || errors.Is(err, net.ErrClosed)
}

// h2agreed reports whether the target chose HTTP/2 by ALPN.
func (p *probe) h2agreed() bool {
	if !p.inTLS {
		return false
	}
	c, ok := p.conn.(*tls.Conn)
	return ok && c.ConnectionState().NegotiatedProtocol == "h2"
}
