package demo

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	patience = 30 * time.Second // the longest a connection lasts
	lateness = 400 * time.Millisecond
)

// play serves one connection in the mood of the moment.
func (s *stage) play(c net.Conn, p part) {
	c.SetDeadline(time.Now().Add(patience))
	now := p.moodAt(time.Since(s.began))
	in := bufio.NewReader(c)
	switch now {
	case hangUp:
		in.Peek(1) // not before something was said: closing earlier would be a reset
		return
	case silent:
		io.Copy(io.Discard, in)
		return
	case slow:
		time.Sleep(lateness)
	}
	if strings.HasPrefix(p.scheme, "socks") {
		s.playSOCKS(c, in, p, now)
	} else {
		s.playHTTP(c, in, p, now)
	}
}

// playHTTP is a forwarding proxy for one request, absolute form or CONNECT.
func (s *stage) playHTTP(c net.Conn, in *bufio.Reader, p part, now mood) {
	r, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	switch {
	case p.user != "" && r.Header.Get("Proxy-Authorization") != basic(p.user, p.password):
		say(c, "407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"demo\"", "Log in first.\n")
		return
	case now == portal:
		say(c, "200 OK", "Content-Type: text/html", "<h1>Welcome to the hotel network</h1> Please enter your room number.\n")
		return
	case now == busy:
		say(c, "429 Too Many Requests", "Retry-After: 7", "Slow down.\n")
		return
	case r.Host != s.target:
		say(c, "403 Forbidden", "Content-Type: text/plain", "The proxies of the demo lead to its target only.\n")
		return
	}
	out, err := net.Dial("tcp", s.where(now))
	if err != nil {
		say(c, "502 Bad Gateway", "Content-Type: text/plain", "The target is away.\n")
		return
	}
	defer out.Close()
	if r.Method == http.MethodConnect {
		io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		splice(c, in, out)
		return
	}
	r.Header.Del("Proxy-Authorization")
	r.Header.Del("Proxy-Connection")
	r.Header.Set("Via", "1.1 demo")
	r.Close = true
	if r.Write(out) == nil {
		io.Copy(c, out)
	}
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// say is an answer of the proxy's own.
func say(c net.Conn, status, header, body string) {
	io.WriteString(c, "HTTP/1.1 "+status+"\r\n"+header+"\r\nConnection: close\r\n\r\n"+body)
}

// where is the address that really answers for the target.
func (s *stage) where(now mood) string {
	if now == down {
		return s.repair
	}
	return s.target
}

// splice carries bytes both ways until either side ends.
func splice(c net.Conn, in io.Reader, out net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(out, in)
		out.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(c, out)
	c.Close()
	<-done
}
