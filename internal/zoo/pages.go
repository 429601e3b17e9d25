package zoo

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// ok is a 200 with headers, each ended by CRLF, and a body as it goes over the wire.
func ok(headers, body string) Handler {
	return Say("HTTP/1.1 200 OK\r\n" + headers + "\r\n" + body)
}

// status is an answer without a body.
func status(line string, headers ...string) Handler {
	return page(line, strings.Join(append(headers, ""), "\r\n"), "")
}

// page is an answer with a body of declared length.
func page(status, headers, body string) Handler {
	return Say(fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, headers, len(body), body))
}

// Packed is text in a content coding: gzip, zlib, flate (deflate without zlib's frame), br
// or zstd.
func Packed(how, text string) string {
	var b bytes.Buffer
	var w interface {
		Write([]byte) (int, error)
		Close() error
	}
	switch how {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "flate":
		w, _ = flate.NewWriter(&b, 5)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// inChunks is a body in chunks of one byte.
func inChunks(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "1\r\n%s\r\n", s[i:i+1])
	}
	return b.String() + "0\r\n\r\n"
}
