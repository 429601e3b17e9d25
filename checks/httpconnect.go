package checks

import (
	"proxyward/checks/verdict"
)

// httpConnect asks an HTTP proxy for a tunnel (RFC 9110 section 9.3.6). Credentials are
// sent at once: many proxies close after their 407.
func (p *probe) httpConnect() *failure {
	p.enter(verdict.Tunnel, p.step.timeouts.Handshake)
	b := append(p.out[:0], "CONNECT "...)
	b = append(b, p.req.origin.hostPort()...)
	b = append(b, " HTTP/1.1\r\nHost: "...) // some refuse a CONNECT without Host
	b = append(b, p.req.origin.hostPort()...)
	b = append(b, "\r\nUser-Agent: proxyward\r\n"...)
	b = p.appendProxyAuthorization(b)
	p.out = append(b, '\r', '\n')
	p.traceLines("sent", p.out)
	_, werr := p.conn.Write(p.out)
	// Even where sending failed an answer may stand there, sent before the close.
	p.buf = p.buf[:0]
	limit := defaultHeaders // the check's own limit is for its answer
	h, err := p.connectReply(&limit)
	if err != nil {
		if werr != nil && len(p.buf) == 0 {
			err = werr
		}
		if h, ok := p.brokenOff(err); ok {
			p.answer.status = h.status
			return p.refusal(&h, nil)
		}
		return p.badReply(err)
	}
	p.answer.status = h.status
	if h.status/100 != 2 {
		return p.refusal(&h, p.peekBody(&h))
	}
	// 2xx has no body whatever its headers say: what follows belongs to the tunnel.
	if len(p.buf) > 0 {
		p.conn = &early{Conn: p.conn, buf: append([]byte(nil), p.buf...)}
		p.buf = p.buf[:0]
	}
	p.through = true
	p.answer.status = 0
	return nil
}

func (p *probe) connectReply(limit *int) (head, error) {
	for {
		h, err := p.readHead(limit, nil)
		if err != nil || h.status >= 200 {
			return h, err
		}
		if h.status == 101 {
			return h, errMalformed
		}
	}
}

func (p *probe) appendProxyAuthorization(b []byte) []byte {
	if !p.ep.HasCredentials() {
		return b
	}
	b = append(b, "Proxy-Authorization: "...)
	b = append(b, basic(p.ep.User, p.ep.Password())...)
	return append(b, '\r', '\n')
}

// badReply is the failure for a reply of the proxy that could not be read.
func (p *probe) badReply(err error) *failure {
	switch err {
	case errHeadTooLarge:
		return p.fail("header_too_large", "")
	case errNotHTTP:
		return p.wrongProtocol(p.buf)
	case errMalformed:
		return p.fail("malformed", p.quote(p.buf))
	}
	return p.broken(err, ending{})
}

// wrongProtocol judges the first bytes of a peer that should have spoken HTTP.
func (p *probe) wrongProtocol(b []byte) *failure {
	if looksTLS(b) {
		return p.fail("tls_wanted", "")
	}
	return p.fail("protocol_mismatch", p.quote(b))
}

// looksTLS knows the first bytes of a TLS record: alert or handshake, version 3.x.
func looksTLS(b []byte) bool {
	return len(b) >= 2 && (b[0] == 0x15 || b[0] == 0x16) && b[1] == 3
}
