package checks

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

var errDecode = errors.New("content coding cannot be undone")

// maxCodings bounds how many codings may lie over one another.
const maxCodings = 3

// maxZstdWindow is what RFC 8878 section 3.1.1.1.2 asks every decoder to support.
const maxZstdWindow = 8 << 20

// decoder undoes the codings of Content-Encoding (RFC 9110 section 8.4), the last first.
// All of them decode on the caller's goroutine.
func decoder(src io.Reader, codings []string) (io.ReadCloser, error) {
	if len(codings) > maxCodings {
		return nil, errDecode
	}
	stack := &closers{Reader: src}
	for i := len(codings) - 1; i >= 0; i-- {
		if err := stack.push(codings[i]); err != nil {
			stack.Close()
			return nil, err
		}
	}
	return stack, nil
}

type closers struct {
	io.Reader
	list []func()
}

func (c *closers) Close() error {
	for _, f := range c.list {
		f()
	}
	return nil
}

func (c *closers) push(coding string) error {
	switch coding {
	case "identity", "none", "", "utf-8", "utf8", "us-ascii", "iso-8859-1", "binary", "8bit", "7bit": // slips for Content-Type and others
	case "gzip", "x-gzip":
		c.Reader = &lazy{src: c.Reader, open: openGzip}
	case "deflate":
		c.Reader = &lazy{src: c.Reader, open: openDeflate}
	case "br":
		c.Reader = brotli.NewReader(c.Reader)
	case "zstd":
		z, err := zstd.NewReader(c.Reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return errDecode
		}
		c.Reader = z
		c.list = append(c.list, z.Close)
	default:
		return errDecode
	}
	return nil
}

// members reads the members of a gzip stream (RFC 1952 section 2.2). What follows the last
// and is none is passed over, as browsers and curl do: some servers pad.
type members struct {
	z   *gzip.Reader
	src *bufio.Reader
}

func openGzip(src *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{z, src}, nil
}

func (m *members) Read(b []byte) (int, error) {
	for {
		n, err := m.z.Read(b)
		if err != io.EOF {
			return n, err
		}
		if sign, _ := m.src.Peek(2); len(sign) < 2 || sign[0] != 0x1f || sign[1] != 0x8b {
			return n, io.EOF
		}
		err = m.z.Reset(m.src)
		m.z.Multistream(false)
		if err != nil || n > 0 {
			return n, err
		}
	}
}

// openDeflate takes what RFC 9110 section 8.4.1.2 says, zlib, and the raw deflate that some
// servers send under that name.
func openDeflate(b *bufio.Reader) (io.Reader, error) {
	sign, _ := b.Peek(2)
	if len(sign) == 2 && sign[0]&0x0f == 8 && (int(sign[0])<<8|int(sign[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// lazy opens a decoder at the first read: opening reads. An empty body is empty, whatever
// its coding.
type lazy struct {
	src  io.Reader
	open func(*bufio.Reader) (io.Reader, error)
	r    io.Reader
}

func (l *lazy) Read(b []byte) (int, error) {
	if l.r == nil {
		br := bufio.NewReader(l.src)
		if _, err := br.Peek(1); err != nil {
			return 0, err
		}
		r, err := l.open(br)
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	return l.r.Read(b)
}
