package checks

import (
	"errors"
	"io"

	"proxyward/checks/verdict"
)

// answer is what the target, or somebody in its place, said.
type answer struct {
	status int
	head   head
	bytes  int64 // of the body, after decoding
}

// ask sends the request and reads the whole answer.
func (p *probe) ask() *failure {
	if p.h2agreed() {
		return p.askHTTP2()
	}
	if fail := p.send(); fail != nil {
		return fail
	}
	p.enter(verdict.Headers, p.step.timeouts.FirstByte)
	p.buf, p.interims = p.buf[:0], 0
	h, err := p.finalHead(p.step.expect.maxHeaders, p.step.timeouts.FirstByte, p.step.timeouts.Handshake)
	if err != nil {
		return p.noAnswer(err)
	}
	p.answer.head, p.answer.status = h, h.status
	if p.forward() {
		if fail := p.proxySpoke(&h); fail != nil {
			return fail
		}
	}
	return p.readBody(&h)
}

// send writes the request. Where that fails an answer may stand there all the same (413,
// 407); only if there is none the sending counts.
func (p *probe) send() *failure {
	p.enter(verdict.Request, p.step.timeouts.FirstByte)
	forward := p.forward()
	b := append(p.out[:0], p.requestHead(forward)...)
	if forward {
		b = p.appendProxyAuthorization(b)
	}
	b = append(b, '\r', '\n')
	p.traceLines("sent", b)
	p.out = append(b, fill(p.req.body, p.nonce)...)
	_, err := p.conn.Write(p.out)
	if err == nil || isResetErrno(err) && p.answerWaits() {
		return nil
	}
	if forward && isResetErrno(err) && p.local(err) == nil {
		return p.failAt(verdict.Tunnel, "reset", "")
	}
	return p.broken(err, ending{})
}

// answerWaits reports whether something can still be read after a write failed.
func (p *probe) answerWaits() bool {
	p.buf = p.buf[:0]
	if p.fillBuf() != nil {
		return false
	}
	p.conn = &early{Conn: p.conn, buf: append([]byte(nil), p.buf...)}
	return true
}

func (p *probe) requestHead(forward bool) []byte {
	cookies := p.cookies(p.req.url)
	if !p.req.hasNonce && cookies == "" {
		return p.req.ready[b2i(forward)]
	}
	return p.req.head(forward, p.nonce, cookies)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// noAnswer is the failure where no whole response head came. Through a tunnel the target
// is who did not answer. A forward proxy that resets without having said anything has not
// even read the request; where it just closes or keeps silent nothing tells.
func (p *probe) noAnswer(err error) *failure {
	nothing := len(p.buf) == 0 && p.interims == 0
	forward := p.forward()
	switch err {
	case errHeadTooLarge:
		if p.interims > 0 && len(p.buf) < p.step.expect.maxHeaders/2 {
			return p.fail("endless_interim", "")
		}
		return p.fail(pick(forward, "header_too_large_forward", "header_too_large"), "")
	case errNotHTTP:
		return p.notHTTP(forward)
	case errMalformed:
		return p.fail(pick(forward, "malformed_forward", "malformed"), p.quote(p.buf))
	}
	if forward {
		if h, ok := p.brokenOff(err); ok {
			p.buf = p.buf[:0]
			if fail := p.proxySpoke(&h); fail != nil {
				p.answer.status = h.status
				return fail
			}
		}
	}
	closed := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if forward && nothing && p.local(err) == nil && (isResetErrno(err) || closed && p.unread()) {
		return p.failAt(verdict.Tunnel, "reset", "")
	}
	names := ending{timeout: "timeout", reset: pick(forward, "reset_forward", "reset"), eof: pick(forward, "eof_forward", "eof")}
	if len(p.buf) == 0 {
		names.timeout = pick(forward, "silent_forward", "silent")
		if p.interims > 0 {
			names.timeout = "endless_interim"
		}
	}
	return p.broken(err, names)
}

func (p *probe) notHTTP(forward bool) *failure {
	switch {
	case forward:
		p.enter(verdict.Tunnel, 0)
		return p.wrongProtocol(p.buf)
	case looksTLS(p.buf):
		return p.fail("protocol_mismatch", "")
	}
	return p.fail("malformed", p.quote(p.buf))
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
