package zoo

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
)

// SOCKS starts a good SOCKS proxy: 5 (with a login where the options have one), 4 and 4a.
func SOCKS(t TB, o Options) *Server { return o.socks(t, "127.0.0.1:0") }

// SOCKS6 is SOCKS at ::1.
func SOCKS6(t TB, o Options) *Server { return o.socks(t, loopback6) }

func (o Options) socks(t TB, addr string) *Server {
	t.Helper()
	return serveOn(t, addr, func(c net.Conn) {
		r := bufio.NewReader(c)
		version, err := r.ReadByte()
		if err != nil {
			return
		}
		switch version {
		case 5:
			o.socks5(c, r)
		case 4:
			o.socks4(c, r)
		}
		drainBriefly(c)
	})
}

func (o Options) socks5(c net.Conn, r *bufio.Reader) {
	n, _ := r.ReadByte()
	methods := make([]byte, n)
	if _, err := io.ReadFull(r, methods); err != nil {
		return
	}
	method := byte(0)
	if o.login() {
		method = 2
	}
	if bytes.IndexByte(methods, method) < 0 {
		c.Write([]byte{5, 0xff})
		return
	}
	c.Write([]byte{5, method})
	if method == 2 && !o.socksLogin(c, r) {
		return
	}
	hostport, code := ReadSOCKS5Request(r)
	if code != 0 {
		c.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	target, err := dialTarget(hostport)
	if err != nil {
		c.Write([]byte{5, socksCode(err), 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	defer target.Close()
	c.Write([]byte{5, 0, 0, 1, 127, 0, 0, 2, 0, 80})
	pipe(c, target, r)
}

func (o Options) socksLogin(c net.Conn, r *bufio.Reader) bool {
	r.ReadByte()
	user, password := readCounted(r), readCounted(r)
	ok := user == o.User && password == o.Password
	c.Write([]byte{1, map[bool]byte{true: 0, false: 1}[ok]})
	return ok
}

func readCounted(r *bufio.Reader) string {
	n, _ := r.ReadByte()
	b := make([]byte, n)
	io.ReadFull(r, b)
	return string(b)
}

// ReadSOCKS5Request reads a CONNECT request (RFC 1928 section 4): its destination, or the
// reply code to refuse it with.
func ReadSOCKS5Request(r *bufio.Reader) (hostport string, code byte) {
	var h [4]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return "", 1
	}
	var host string
	switch h[3] {
	case 1, 4:
		b := make([]byte, map[byte]int{1: 4, 4: 16}[h[3]])
		io.ReadFull(r, b)
		host = net.IP(b).String()
	case 3:
		host = readCounted(r)
	default:
		return "", 8
	}
	var port [2]byte
	if _, err := io.ReadFull(r, port[:]); err != nil {
		return "", 1
	}
	if h[1] != 1 {
		return "", 7
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port[0])<<8|int(port[1]))), 0
}

func socksCode(err error) byte {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return 5
	case errors.As(err, &dns):
		return 4
	}
	return 1
}

// socks4 speaks SOCKS4 and 4a; the user id must be the options' user.
func (o Options) socks4(c net.Conn, r *bufio.Reader) {
	var h [7]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return
	}
	user, err := r.ReadString(0)
	if err != nil {
		return
	}
	host := net.IP(h[3:7]).String()
	if h[3] == 0 && h[4] == 0 && h[5] == 0 && h[6] != 0 {
		name, err := r.ReadString(0)
		if err != nil {
			return
		}
		host = name[:len(name)-1]
	}
	if o.User != "" && user[:len(user)-1] != o.User {
		c.Write([]byte{0, 93, 0, 0, 0, 0, 0, 0})
		return
	}
	target, err := dialTarget(net.JoinHostPort(host, strconv.Itoa(int(h[1])<<8|int(h[2]))))
	if err != nil {
		c.Write([]byte{0, 91, 0, 0, 0, 0, 0, 0})
		return
	}
	defer target.Close()
	c.Write([]byte{0, 90, 0, 0, 0, 0, 0, 0})
	pipe(c, target, r)
}
