package zoo

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames is an HTTP/2 target whose frames after the request are written by say.
func frames(say func(*http2.Framer)) Handler {
	return func(c net.Conn) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(c, preface); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		f.AllowIllegalWrites = true
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if _, ok := frame.(*http2.HeadersFrame); ok {
				break
			}
		}
		f.WriteSettings()
		say(f)
		c.(*tls.Conn).CloseWrite()
		io.Copy(io.Discard, c)
	}
}

func block(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

func headers(f *http2.Framer, end bool, fields ...string) {
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block(fields...), EndHeaders: true, EndStream: end})
}

// HTTP2 are targets that answer in HTTP/2.
func HTTP2() []Behaviour {
	var list []Behaviour
	for _, c := range []struct {
		name string
		slow bool
		say  func(*http2.Framer)
		want string
	}{
		{"answer with a body", false, func(f *http2.Framer) { headers(f, false, ":status", "200"); f.WriteData(1, true, []byte("ok")) }, "pass"},
		{"padding, ping, trailers", false, func(f *http2.Framer) {
			f.WritePing(false, [8]byte{1})
			headers(f, false, ":status", "200", "content-length", "2")
			f.WriteDataPadded(1, false, []byte("ok"), make([]byte, 9))
			headers(f, true, "x-trailer", "y")
		}, "pass"},
		{"early hints first", false, func(f *http2.Framer) {
			headers(f, false, ":status", "103", "link", "x")
			headers(f, true, ":status", "204")
		}, "pass"},
		{"gzip", false, func(f *http2.Framer) {
			headers(f, false, ":status", "200", "content-encoding", "gzip")
			f.WriteData(1, true, []byte(Packed("gzip", "ok")))
		}, "pass"},
		{"answer and then a reset without error", false, func(f *http2.Framer) {
			headers(f, false, ":status", "200")
			f.WriteData(1, false, []byte("ok"))
			f.WriteRSTStream(1, http2.ErrCodeNo)
		}, "pass"},
		{"404", false, func(f *http2.Framer) { headers(f, true, ":status", "404") }, "verify http_status target"},
		{"502", false, func(f *http2.Framer) { headers(f, true, ":status", "502") }, "verify http_status target"},
		{"stream reset", false, func(f *http2.Framer) { f.WriteRSTStream(1, http2.ErrCodeInternal) }, "headers reset target"},
		{"goaway", false, func(f *http2.Framer) { f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil) }, "headers reset target"},
		{"body reset", false, func(f *http2.Framer) {
			headers(f, false, ":status", "200")
			f.WriteRSTStream(1, http2.ErrCodeCancel)
		}, "body reset target"},
		{"close", false, func(*http2.Framer) {}, "headers eof target"},
		{"body cut", false, func(f *http2.Framer) { headers(f, false, ":status", "200"); f.WriteData(1, false, []byte("o")) }, "body truncated target"},
		{"body shorter than its length", false, func(f *http2.Framer) {
			headers(f, false, ":status", "200", "content-length", "9")
			f.WriteData(1, true, []byte("o"))
		}, "body truncated target"},
		{"no status", false, func(f *http2.Framer) { headers(f, true, "a", "b") }, "headers malformed target"},
		{"data before the head", false, func(f *http2.Framer) { f.WriteData(1, true, []byte("o")) }, "headers malformed target"},
		{"frame too large", false, func(f *http2.Framer) { f.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, 1<<17)) }, "headers malformed target"},
		{"huge head", false, func(f *http2.Framer) {
			headers(f, false, ":status", "200", "a", strings.Repeat("b", 15000))
		}, "headers header_too_large target"},
		{"a flood of pings", false, func(f *http2.Framer) {
			for f.WritePing(false, [8]byte{}) == nil {
			}
		}, "headers header_too_large target"},
		{"interim answers without end", false, func(f *http2.Framer) {
			for {
				if f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block(":status", "103"), EndHeaders: true}) != nil {
					return
				}
			}
		}, "headers timeout target"},
		{"body without end", false, func(f *http2.Framer) {
			headers(f, false, ":status", "200")
			for f.WriteData(1, false, make([]byte, 16384)) == nil {
			}
		}, "body too_large target"},
		{"silent", true, func(*http2.Framer) { time.Sleep(500 * time.Millisecond) }, "headers timeout target"},
		{"body a byte now and then", true, func(f *http2.Framer) {
			headers(f, false, ":status", "200")
			for f.WriteData(1, false, []byte("x")) == nil {
				time.Sleep(pace)
			}
		}, "body timeout proxy"},
	} {
		b := Behaviour{Family: "HTTP/2", Name: c.name, TLS: changed(func(c *tls.Config) { c.NextProtos = []string{"h2"} }), Serve: frames(c.say),
			Target: true, Proxy: "http", URL: connects, Slow: c.slow, Want: c.want}
		if c.name == "huge head" {
			b.Asks.MaxHead = 8000
		}
		list = append(list, b)
	}
	return list
}
