package checks

import (
	"bytes"
	"errors"
	"io"
	"time"

	"proxyward/checks/verdict"
)

var (
	errTruncated = errors.New("body shorter than declared")
	errTooLarge  = errors.New("body over the limit")
)

// readBody reads the body, decoded, into p.body.
func (p *probe) readBody(h *head) *failure {
	p.body = p.body[:0]
	f, err := h.framing(p.req.method)
	if err != nil { // still the head's fault, not the body's
		return p.fail(pick(p.forward(), "malformed_forward", "malformed"), "it does not say how long it is")
	}
	p.enter(verdict.Body, 0)
	if f.length == 0 {
		return nil
	}
	err = p.readCoded(h, p.framed(f))
	p.answer.bytes = int64(len(p.body))
	if f.length < 0 && !f.chunked && err != nil && timedOut(err) && p.stopped() {
		return p.broken(err, ending{timeout: "timeout_open"})
	}
	return p.bodyFailure(err)
}

// stopped reports whether nothing has come for at least half of the running stage: what
// stops is not a peer that drips.
func (p *probe) stopped() bool { return time.Since(p.gotAt) > time.Since(p.stageAt)/2 }

func (p *probe) readCoded(h *head, src io.Reader) error {
	codings := h.list("Content-Encoding")
	if len(codings) == 0 {
		return p.collect(src, p.step.expect.maxBody)
	}
	// Undone only when it is here whole: the wire's faults come first, and nobody who drips
	// holds a decoder's memory meanwhile.
	err := p.collect(src, p.step.expect.maxBody+codedSlack)
	coded := p.body
	p.body = nil
	if err != nil {
		return err
	}
	return p.decode(coded, codings)
}

// codedSlack is how much longer than its plain text an encoded body may be.
const codedSlack = 64 << 10

// decoding bounds how many bodies are decoded at once: the windows of brotli and zstd can
// take 16 MiB each, at a stranger's word.
var decoding = make(chan struct{}, 4)

func (p *probe) decode(coded []byte, codings []string) error {
	decoding <- struct{}{}
	defer func() { <-decoding }()
	r, err := decoder(bytes.NewReader(coded), codings)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := p.collect(r, p.step.expect.maxBody); err == errTooLarge || err == nil {
		return err
	}
	return errDecode
}

// collect reads to the end or to one byte over the limit. The buffer grows with what comes,
// never with what is announced.
func (p *probe) collect(src io.Reader, most int64) error {
	for idle := 0; idle < 100; {
		if cap(p.body)-len(p.body) < 512 {
			grown := make([]byte, len(p.body), 2*cap(p.body)+2048)
			copy(grown, p.body)
			p.body = grown
		}
		n, err := src.Read(p.body[len(p.body):cap(p.body)])
		p.body = p.body[:len(p.body)+n]
		if idle++; n > 0 {
			idle = 0
		}
		if int64(len(p.body)) > most {
			p.body = p.body[:most]
			return errTooLarge
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

func (p *probe) bodyFailure(err error) *failure {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTooLarge):
		return p.fail("too_large", "")
	case errors.Is(err, errChunk):
		return p.fail("malformed", "")
	case errors.Is(err, errDecode):
		return p.fail("decode_error", "")
	case errors.Is(err, errTruncated):
		return p.fail("truncated", "")
	}
	return p.broken(err, ending{eof: "truncated"})
}

// framed is the body as the framing cuts it out of the connection.
func (p *probe) framed(f framing) io.Reader {
	switch {
	case f.chunked:
		return &chunked{p: p, limit: p.step.expect.maxHeaders}
	case f.length > 0:
		return &fixed{p: p, left: f.length}
	}
	return (*untilClose)(p)
}

// take gives what has been read ahead, or reads.
func (p *probe) take(b []byte) (int, error) {
	if len(p.buf) > 0 {
		n := copy(b, p.buf)
		p.buf = p.buf[:copy(p.buf, p.buf[n:])]
		return n, nil
	}
	return p.conn.Read(b)
}

type fixed struct {
	p    *probe
	left int64
}

func (f *fixed) Read(b []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n, err := f.p.take(b[:min(int64(len(b)), f.left)])
	if f.left -= int64(n); f.left == 0 {
		return n, io.EOF
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errTruncated
	}
	return n, err
}

// untilClose is a body without a length: the close is its end. In TLS many servers leave
// the closing alert out, and nothing was declared that could be missed.
type untilClose probe

func (u *untilClose) Read(b []byte) (int, error) {
	n, err := (*probe)(u).take(b)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// peekBody reads the beginning of an error page, to hear a proxy's reason, and leaves it in
// p.buf. It waits little: the page is a help, the status line is the message.
func (p *probe) peekBody(h *head) []byte {
	const enough, patience = 4096, 300 * time.Millisecond
	f, err := h.framing(p.req.method)
	if err != nil || f.length == 0 {
		return nil
	}
	before := p.limited
	p.until(time.Now(), patience)
	for len(p.buf) < enough && (f.length < 0 || int64(len(p.buf)) < f.length) {
		if p.fillBuf() != nil {
			break
		}
	}
	p.limited = before
	if p.raw != nil && !p.cancelled() {
		p.raw.SetDeadline(before)
	}
	if f.length >= 0 && int64(len(p.buf)) > f.length {
		return p.buf[:f.length]
	}
	return p.buf[:min(len(p.buf), enough)]
}
