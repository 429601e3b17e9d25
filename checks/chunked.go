package checks

import (
	"bytes"
	"errors"
	"io"
)

var errChunk = errors.New("malformed chunk")

// maxChunkLine bounds a chunk's first line, extensions included.
const maxChunkLine = 4096

// chunked reads a chunked body (RFC 9112 section 7.1). Trailers are read past.
type chunked struct {
	p     *probe
	left  int64 // of the current chunk
	state chunkState
	limit int // bytes that trailers may have
}

type chunkState int

const (
	atSize chunkState = iota
	inData
	atDataEnd
	atTrailer
	done
)

func (c *chunked) Read(b []byte) (int, error) {
	for {
		switch c.state {
		case atSize:
			if err := c.size(); err != nil {
				return 0, err
			}
		case inData:
			n, err := c.p.take(b[:min(int64(len(b)), c.left)])
			if c.left -= int64(n); c.left == 0 {
				c.state = atDataEnd
			}
			if n > 0 {
				return n, nil
			}
			return 0, cutShort(err)
		case atDataEnd:
			line, err := c.line(2)
			if err != nil {
				return 0, err
			}
			if len(line) != 0 {
				return 0, errChunk
			}
			c.state = atSize
		case atTrailer:
			if err := c.trailer(); err != nil {
				return 0, err
			}
		case done:
			return 0, io.EOF
		}
	}
}

func (c *chunked) size() error {
	line, err := c.line(maxChunkLine)
	if err != nil {
		return err
	}
	n, err := chunkSize(line)
	if err != nil {
		return err
	}
	c.left, c.state = n, inData
	if n == 0 {
		c.state = atTrailer
	}
	return nil
}

// chunkSize reads the hexadecimal size before any extension.
func chunkSize(line []byte) (int64, error) {
	digits, _, _ := bytes.Cut(line, []byte{';'})
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > 15 {
		return 0, errChunk
	}
	var n int64
	for _, d := range digits {
		switch {
		case '0' <= d && d <= '9':
			n = n<<4 | int64(d-'0')
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			n = n<<4 | int64(d|0x20-'a'+10)
		default:
			return 0, errChunk
		}
	}
	return n, nil
}

func (c *chunked) trailer() error {
	line, err := c.line(max(c.limit, 2))
	if err != nil {
		return err
	}
	if c.limit -= len(line) + 2; c.limit < 0 {
		return errChunk
	}
	if len(line) == 0 {
		c.state = done
	}
	return nil
}

// line reads one line without its end. It stays valid until the next read.
func (c *chunked) line(most int) ([]byte, error) {
	seen := 0
	for {
		if k := bytes.IndexByte(c.p.buf[seen:], '\n'); k >= 0 {
			end := seen + k
			line := append(c.p.out[:0], c.p.buf[:end]...)
			c.p.out = line
			c.p.buf = c.p.buf[:copy(c.p.buf, c.p.buf[end+1:])]
			line = bytes.TrimSuffix(line, []byte{'\r'})
			if len(line) > most {
				return nil, errChunk
			}
			return line, nil
		}
		seen = len(c.p.buf)
		if seen > most {
			return nil, errChunk
		}
		if err := c.p.fillBuf(); err != nil {
			return nil, cutShort(err)
		}
	}
}

// cutShort: a close before the last chunk is a truncated body.
func cutShort(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errTruncated
	}
	return err
}
