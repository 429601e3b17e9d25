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
	case "identity", "none", "":
	case "gzip", "x-gzip":
		c.Reader = &lazy{src: c.Reader, open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
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

// openDeflate takes what RFC 9110 section 8.4.1.2 says, zlib, and the raw deflate that some
// servers send under that name.
func openDeflate(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
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
	open func(io.Reader) (io.Reader, error)
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
