package sources

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// line is one line without its end.
type line struct {
	text    []byte // valid until the next line is read
	tooLong bool   // over MaxLineBytes; text is its beginning
}

// lineReader splits at LF, CR LF and lone CR, and holds no more than MaxLineBytes of any
// line.
type lineReader struct {
	r       *bufio.Reader
	number  int // of the line last returned, from 1
	afterCR bool
	buf     []byte
}

func newLineReader(r io.Reader) *lineReader {
	l := &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
	if mark, _ := l.r.Peek(3); string(mark) == "\xef\xbb\xbf" {
		l.r.Discard(3)
	}
	return l
}

// next returns io.EOF after the last line. A last line without an end counts.
func (l *lineReader) next() (line, error) {
	l.number++
	l.buf = l.buf[:0]
	long := false
	for begun := false; ; {
		chunk, err := l.chunk()
		if err != nil {
			if begun && errors.Is(err, io.EOF) {
				return line{l.buf, long}, nil
			}
			return line{}, err
		}
		begun = true
		end := lineEnd(chunk)
		part := chunk
		if end >= 0 {
			part = chunk[:end]
		}
		room := MaxLineBytes - len(l.buf)
		long = long || len(part) > room
		l.buf = append(l.buf, part[:min(len(part), room)]...)
		if end >= 0 {
			l.afterCR = chunk[end] == '\r'
			l.r.Discard(end + 1)
			return line{l.buf, long}, nil
		}
		l.r.Discard(len(chunk))
	}
}

// lineEnd is the index of the first CR or LF, or -1.
func lineEnd(chunk []byte) int {
	lf := bytes.IndexByte(chunk, '\n')
	if lf >= 0 {
		chunk = chunk[:lf]
	}
	if cr := bytes.IndexByte(chunk, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// maxChunk bounds what is searched for an LF again and again where lines end in CR.
const maxChunk = 4 << 10

// chunk is what is at hand, at least one byte, the LF of a CR LF left out.
func (l *lineReader) chunk() ([]byte, error) {
	for {
		if _, err := l.r.Peek(1); err != nil {
			return nil, err
		}
		chunk, _ := l.r.Peek(min(l.r.Buffered(), maxChunk))
		if !l.afterCR || chunk[0] != '\n' {
			l.afterCR = false
			return chunk, nil
		}
		l.afterCR = false
		l.r.Discard(1)
	}
}

// content is a line without white space around it and without its comment.
func content(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '#' {
		return nil
	}
	for i := 1; i < len(text); i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			return bytes.TrimSpace(text[:i])
		}
	}
	return text
}
