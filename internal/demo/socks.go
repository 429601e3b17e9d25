package demo

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strconv"
)

// The bytes of SOCKS 5 that are used here (RFC 1928, RFC 1929).
const (
	socksVersion  = 5
	methodNone    = 0
	methodLogin   = 2
	methodRefused = 0xff
	replyOK       = 0
	replyFailed   = 1
	replyRules    = 2
	addressIPv4   = 1
	addressName   = 3
	addressIPv6   = 4
)

// playSOCKS is a SOCKS 5 proxy for one CONNECT.
func (s *stage) playSOCKS(c net.Conn, in *bufio.Reader, p part, now mood) {
	if !greet(c, in, p) {
		return
	}
	asked, ok := readAsked(in)
	if !ok {
		return
	}
	if asked != s.target {
		reply(c, replyRules)
		return
	}
	out, err := net.Dial("tcp", s.where(now))
	if err != nil {
		reply(c, replyFailed)
		return
	}
	defer out.Close()
	reply(c, replyOK)
	splice(c, in, out)
}

// greet agrees on a login method and asks for the login.
func greet(c net.Conn, in *bufio.Reader, p part) bool {
	head := take(in, 2)
	if head == nil || head[0] != socksVersion {
		return false
	}
	method := byte(methodNone)
	if p.user != "" {
		method = methodLogin
	}
	offered := take(in, int(head[1]))
	for _, m := range offered {
		if m == method {
			c.Write([]byte{socksVersion, method})
			return method == methodNone || login(c, in, p)
		}
	}
	c.Write([]byte{socksVersion, methodRefused})
	return false
}

func login(c net.Conn, in *bufio.Reader, p part) bool {
	head := take(in, 2)
	if head == nil {
		return false
	}
	user := take(in, int(head[1]))
	size := take(in, 1)
	if size == nil {
		return false
	}
	right := string(user) == p.user && string(take(in, int(size[0]))) == p.password
	verdict := byte(replyFailed)
	if right {
		verdict = replyOK
	}
	c.Write([]byte{1, verdict})
	return right
}

// readAsked reads where the client wants to go, as host:port.
func readAsked(in *bufio.Reader) (string, bool) {
	head := take(in, 4)
	if head == nil {
		return "", false
	}
	var host string
	switch head[3] {
	case addressIPv4:
		host = net.IP(take(in, net.IPv4len)).String()
	case addressIPv6:
		host = net.IP(take(in, net.IPv6len)).String()
	case addressName:
		size := take(in, 1)
		if size == nil {
			return "", false
		}
		host = string(take(in, int(size[0])))
	}
	port := take(in, 2)
	if port == nil {
		return "", false
	}
	return net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(port)))), true
}

func reply(c net.Conn, code byte) {
	c.Write([]byte{socksVersion, code, 0, addressIPv4, 0, 0, 0, 0, 0, 0})
}

// take reads n bytes; nil if they do not come.
func take(in io.Reader, n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil
	}
	return b
}
