package checks

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"proxyward/checks/verdict"
)

// h2 is one request on one HTTP/2 connection (RFC 9113), on the probe's own goroutine: an
// http2.Transport would add goroutines and timers to it and hide who ended what.
type h2 struct {
	p        *probe
	fr       *http2.Framer
	credit   int64 // what we may send on the connection
	stream   int64 // and on the stream
	initial  int64 // the peer's initial window of a stream
	frameMax int
	pending  []byte // request body not yet sent
	ended    bool
	budget   int // bytes of control frames and interim heads that the peer may still send
}

const (
	h2stream  = 1
	h2window  = 65535   // RFC 9113 section 6.9.2
	h2receive = 1 << 20 // what we let the peer send unasked
)

var (
	errH2Ended   = errors.New("stream ended with an error")
	errH2Grammar = errors.New("HTTP/2 frames out of order")
)

func (p *probe) askHTTP2() *failure {
	p.enter(verdict.Request, p.step.timeouts.FirstByte)
	p.buf = p.buf[:0]
	c := &h2{p: p, credit: h2window, stream: h2window, initial: h2window, frameMax: 16384, budget: p.step.expect.maxHeaders + 16<<10}
	c.fr = http2.NewFramer(nil, p.conn)
	c.fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	// The framer calls a single string over its limit a compression error: with room above
	// ours it is counted here, by metaHead, and called what it is.
	c.fr.MaxHeaderListSize = uint32(p.step.expect.maxHeaders) + 256<<10
	c.fr.SetReuseFrames()
	c.fr.SetMaxReadFrameSize(16384)
	if err := c.request(); err != nil {
		return p.broken(err, ending{})
	}
	p.enter(verdict.Headers, p.step.timeouts.FirstByte)
	p.interims = 0
	h, err := c.response()
	if err != nil {
		return p.noAnswerH2(err)
	}
	p.answer.head, p.answer.status = h, h.status
	return p.bodyHTTP2(c, &h)
}

func (p *probe) bodyHTTP2(c *h2, h *head) *failure {
	p.enter(verdict.Body, 0)
	p.body = p.body[:0]
	if c.ended {
		return nil
	}
	err := p.readCoded(h, c)
	p.answer.bytes = int64(len(p.body))
	if n, bad := strconv.ParseInt(h.get("Content-Length"), 10, 64); err == nil && bad == nil && p.req.method != "HEAD" && !h.has("Content-Encoding") && n > int64(len(p.body)) {
		err = errTruncated
	}
	if errors.Is(err, errH2Ended) || errors.Is(err, errH2Grammar) {
		return p.fail("h2_refused", err.Error())
	}
	return p.bodyFailure(err)
}

func (p *probe) noAnswerH2(err error) *failure {
	switch {
	case errors.Is(err, errHeadTooLarge):
		if p.interims > 0 {
			return p.fail("endless_interim", "")
		}
		return p.fail("header_too_large", "")
	case errors.Is(err, errH2Ended):
		return p.fail("h2_refused", err.Error())
	case errors.Is(err, errH2Grammar):
		return p.fail("malformed", err.Error())
	}
	return p.broken(err, ending{timeout: pick(p.interims > 0, "endless_interim", "silent")})
}

// request sends preface, settings and the request in one write.
func (c *h2) request() error {
	var out bytes.Buffer
	out.WriteString(http2.ClientPreface)
	w := http2.NewFramer(&out, nil)
	w.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: h2receive},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: uint32(c.p.step.expect.maxHeaders)})
	w.WriteWindowUpdate(0, h2receive)
	c.pending = []byte(fill(c.p.req.body, c.p.nonce))
	c.writeHead(w, c.head())
	c.feed(w)
	_, err := c.p.conn.Write(out.Bytes())
	return err
}

// writeHead cuts a header block into frames: no more than 16 KiB each is promised (RFC 9113
// section 4.2).
func (c *h2) writeHead(w *http2.Framer, block []byte) {
	first := block[:min(len(block), c.frameMax)]
	rest := block[len(first):]
	w.WriteHeaders(http2.HeadersFrameParam{StreamID: h2stream, BlockFragment: first, EndStream: len(c.pending) == 0, EndHeaders: len(rest) == 0})
	for len(rest) > 0 {
		n := min(len(rest), c.frameMax)
		w.WriteContinuation(h2stream, n == len(rest), rest[:n])
		rest = rest[n:]
	}
}

func (c *h2) head() []byte {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	t, nonce := c.p.req, c.p.nonce
	for _, f := range []field{{":method", t.method}, {":scheme", "https"}, {":authority", fill(t.host, nonce)}, {":path", fill(t.url.RequestURI(), nonce)}} {
		e.WriteField(hpack.HeaderField{Name: f.name, Value: f.value})
	}
	for _, f := range t.allHeaders(c.p.cookies(t.url)) {
		c.p.trace("sent", maskLine(f.name+": "+fill(f.value, nonce)))
		e.WriteField(hpack.HeaderField{Name: strings.ToLower(f.name), Value: fill(f.value, nonce), Sensitive: !harmless[canonicalName(f.name)]})
	}
	return block.Bytes()
}

// feed writes as much of the body as the peer's windows allow.
func (c *h2) feed(w *http2.Framer) {
	for len(c.pending) > 0 {
		n := min(int64(len(c.pending)), c.credit, c.stream, int64(c.frameMax))
		if n <= 0 {
			return
		}
		w.WriteData(h2stream, n == int64(len(c.pending)), c.pending[:n])
		c.pending = c.pending[n:]
		c.credit, c.stream = c.credit-n, c.stream-n
	}
}

// response reads frames until the final head.
func (c *h2) response() (head, error) {
	for {
		f, err := c.next()
		if err != nil {
			return head{}, err
		}
		m, ok := f.(*http2.MetaHeadersFrame)
		if !ok {
			if _, data := f.(*http2.DataFrame); data {
				return head{}, errH2Grammar
			}
			continue
		}
		if m.Truncated {
			return head{}, errHeadTooLarge
		}
		h, err := c.metaHead(m)
		if err != nil || h.status >= 200 {
			c.ended = m.StreamEnded()
			return h, err
		}
		c.p.interims++
		c.p.until(c.p.stageAt, c.p.step.timeouts.FirstByte)
	}
}

func (c *h2) metaHead(m *http2.MetaHeadersFrame) (head, error) {
	var h head
	status, err := strconv.Atoi(m.PseudoValue("status"))
	if err != nil || status < 100 || status > 999 || status == 101 {
		return h, errH2Grammar
	}
	h.status = status
	c.p.trace("got", "HTTP/2 "+itoa(status))
	size := 0
	for _, f := range m.RegularFields() {
		c.p.trace("got", maskLine(f.Name+": "+f.Value))
		h.fields = append(h.fields, field{f.Name, f.Value})
		size += len(f.Name) + len(f.Value) + 32
	}
	if c.budget -= size; c.budget < 0 || size > c.p.step.expect.maxHeaders {
		return h, errHeadTooLarge
	}
	return h, nil
}
