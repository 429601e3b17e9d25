package zoo

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"time"
)

// Handler is what a peer does with one connection; after it the connection is closed.
type Handler func(net.Conn)

// hear reads one message of the client: what comes in one go.
func hear(c net.Conn) []byte {
	b := make([]byte, 64<<10)
	n, _ := c.Read(b)
	return b[:n]
}

// hearHead reads until the blank line of a request head, or what is there instead.
func hearHead(c net.Conn) []byte {
	var all []byte
	for {
		b := hear(c)
		all = append(all, b...)
		if len(b) == 0 || bytes.Contains(all, []byte("\r\n\r\n")) || all[0] < 'A' {
			return all
		}
	}
}

// Say reads a request and answers with these bytes, then closes.
func Say(text string) Handler {
	return func(c net.Conn) {
		hearHead(c)
		io.WriteString(c, text)
		drainBriefly(c)
	}
}

// SayAndReset reads a request, answers with these bytes and resets the connection.
func SayAndReset(text string) Handler {
	return func(c net.Conn) {
		hearHead(c)
		if text != "" {
			io.WriteString(c, text)
			time.Sleep(20 * time.Millisecond) // a reset overtakes what is still under way
		}
		Reset(c)
	}
}

// SayAndHang reads a request, answers with these bytes and then keeps silent.
func SayAndHang(text string) Handler {
	return func(c net.Conn) {
		hearHead(c)
		io.WriteString(c, text)
		io.Copy(io.Discard, c)
	}
}

// Silent takes everything and says nothing.
func Silent(c net.Conn) { io.Copy(io.Discard, c) }

// HangUp closes right after the accept.
func HangUp(net.Conn) {}

// ResetAtOnce resets right after the accept.
func ResetAtOnce(c net.Conn) { Reset(c) }

// Listen reads a request and closes without an answer.
func Listen(c net.Conn) { hearHead(c) }

// Drip reads a request and answers with a byte at each pace.
func Drip(text string, pace time.Duration) Handler {
	return func(c net.Conn) {
		hearHead(c)
		dripOut(c, text, pace)
	}
}

func dripOut(c net.Conn, text string, pace time.Duration) {
	for i := range len(text) {
		if _, err := io.WriteString(c, text[i:i+1]); err != nil {
			return
		}
		time.Sleep(pace)
	}
}

// Pieces reads a request and answers in pieces of n bytes, each a packet of its own.
func Pieces(text string, n int) Handler {
	return func(c net.Conn) {
		hearHead(c)
		inPieces(c, text, n)
		drainBriefly(c)
	}
}

func inPieces(c net.Conn, text string, n int) {
	if n == 0 {
		n = len(text)
	}
	for len(text) > 0 {
		k := min(n, len(text))
		io.WriteString(c, text[:k])
		text = text[k:]
		time.Sleep(200 * time.Microsecond)
	}
}

// Flood reads a request, answers with begin and then with line for ever; pace 0: as fast as
// it goes.
func Flood(begin, line string, pace time.Duration) Handler {
	block := line
	if pace == 0 {
		block = strings.Repeat(line, 1+4096/len(line))
	}
	return func(c net.Conn) {
		hearHead(c)
		io.WriteString(c, begin)
		for {
			if _, err := io.WriteString(c, block); err != nil {
				return
			}
			time.Sleep(pace)
		}
	}
}

// Grant answers CONNECT with reply, whatever that says, and then is a tunnel. The reply is
// sent in pieces of n bytes; n 0: at once.
func Grant(reply string, n int) Handler {
	return func(c net.Conn) {
		req := hearHead(c)
		words := strings.Fields(string(req))
		if len(words) < 2 || words[0] != "CONNECT" {
			return
		}
		target, err := dialTarget(words[1])
		if err != nil {
			return
		}
		defer target.Close()
		inPieces(c, reply, n)
		pipe(c, target, c)
	}
}

// GrantThen answers CONNECT with success, waits for the first bytes of the tunnel if wait is
// set, and goes on with then.
func GrantThen(wait bool, then Handler) Handler {
	return func(c net.Conn) {
		hearHead(c)
		io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		if wait {
			hear(c)
		}
		then(c)
	}
}

// Write says bytes without having heard any.
func Write(text string) Handler {
	return func(c net.Conn) {
		io.WriteString(c, text)
		drainBriefly(c)
	}
}

// Dialogue hears one message before each of its replies; after the last it goes on with
// then (nil: it closes).
func Dialogue(then Handler, replies ...string) Handler {
	return func(c net.Conn) {
		for _, r := range replies {
			if len(hear(c)) == 0 {
				return
			}
			io.WriteString(c, r)
		}
		if then != nil {
			then(c)
			return
		}
		drainBriefly(c)
	}
}

// Slowly is Dialogue with a byte at each pace.
func Slowly(pace time.Duration, replies ...string) Handler {
	return func(c net.Conn) {
		for _, r := range replies {
			hear(c)
			dripOut(c, r, pace)
		}
		drainBriefly(c)
	}
}

// ServeTLS is Serve behind a TLS handshake.
func ServeTLS(t TB, cfg *tls.Config, handle Handler) *Server {
	t.Helper()
	return Serve(t, func(c net.Conn) {
		s := tls.Server(c, cfg)
		if s.Handshake() == nil {
			handle(s)
		}
	})
}

// SOCKS5In is a good SOCKS5 proxy whose messages come in single bytes, and whose last reply
// is followed at once by what the target says.
func SOCKS5In(reply string) Handler {
	return func(c net.Conn) {
		hear(c)
		dripOut(c, "\x05\x00", time.Millisecond)
		r := bufio.NewReader(c)
		hostport, _ := ReadSOCKS5Request(r)
		target, err := dialTarget(hostport)
		if err != nil {
			return
		}
		defer target.Close()
		dripOut(c, reply, time.Millisecond)
		pipe(c, target, r)
	}
}

// LoseFirst grants a tunnel and then loses the client's first n bytes.
func LoseFirst(n int) Handler {
	return func(c net.Conn) {
		words := strings.Fields(string(hearHead(c)))
		if len(words) < 2 {
			return
		}
		target, err := dialTarget(words[1])
		if err != nil {
			return
		}
		defer target.Close()
		io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		io.ReadFull(c, make([]byte, n))
		pipe(c, target, c)
	}
}
