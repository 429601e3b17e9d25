package checks

import (
	"bytes"
	"errors"
	"io"
	"time"
)

var errHeadTooLarge = errors.New("head over the limit")

// readHead reads one response head from the connection into p.buf and leaves there what
// follows it. limit bounds the bytes of the head; it is lowered by what is read, so that
// interim answers count. begun, if any, is called when some of it is there.
func (p *probe) readHead(limit *int, begun func()) (head, error) {
	seen := 0
	for {
		p.skipBlank()
		if len(p.buf) > 0 && begun != nil {
			begun()
		}
		if end := headEnd(p.buf, seen); end > 0 {
			if *limit -= end; *limit < 0 {
				return head{}, errHeadTooLarge
			}
			h, err := parseHead(p.buf[:end])
			p.traceHead(p.buf[:end])
			p.buf = p.buf[:copy(p.buf, p.buf[end:])]
			return h, err
		}
		if !plausible(p.buf) {
			return head{}, errNotHTTP
		}
		if len(p.buf) > *limit {
			return head{}, errHeadTooLarge
		}
		seen = len(p.buf)
		if err := p.fillBuf(); err != nil {
			return head{}, err
		}
	}
}

// brokenOff is what came of a head that a close or a reset cut short, if that is already an
// error: a refusal is one without its blank line too, a grant is not.
func (p *probe) brokenOff(err error) (head, bool) {
	end := bytes.LastIndexByte(p.buf, '\n') + 1
	if end == 0 || errors.Is(err, errHeadTooLarge) || timedOut(err) || p.local(err) != nil || !plausible(p.buf) {
		return head{}, false
	}
	h, bad := parseHead(p.buf[:end])
	if bad != nil || h.status < 300 {
		return head{}, false
	}
	p.traceHead(p.buf[:end])
	return h, true
}

// skipBlank drops empty lines before a status line: some servers leave them after a body
// that they should not have sent.
func (p *probe) skipBlank() {
	n := 0
	for n < len(p.buf) && (p.buf[n] == '\r' || p.buf[n] == '\n') {
		n++
	}
	if n > 0 {
		p.buf = p.buf[:copy(p.buf, p.buf[n:])]
	}
}

// fillBuf reads once, at least a byte.
func (p *probe) fillBuf() error {
	if cap(p.buf)-len(p.buf) < 1024 {
		grown := make([]byte, len(p.buf), 2*cap(p.buf)+1024)
		copy(grown, p.buf)
		p.buf = grown
	}
	for range 100 {
		n, err := p.conn.Read(p.buf[len(p.buf):cap(p.buf)])
		p.buf = p.buf[:len(p.buf)+n]
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// finalHead reads heads until one that is not interim (RFC 9110 section 15.2). Without an
// answer's first byte the stage ends after firstByte; once it has come, rest more is given.
// Both count from the stage's begin, so that interim answers without end gain nothing.
func (p *probe) finalHead(limit int, firstByte, rest time.Duration) (head, error) {
	for {
		h, err := p.readHead(&limit, func() { p.until(p.stageAt, firstByte+rest) })
		if err != nil || h.status >= 200 {
			return h, err
		}
		if h.status == 101 {
			return h, errMalformed
		}
		p.interims++
		p.until(p.stageAt, firstByte)
	}
}
