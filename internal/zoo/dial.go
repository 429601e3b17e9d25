package zoo

import (
	"errors"
	"io"
	"log"
	"net"
	"sync"
	"syscall"
	"time"
)

var quiet = log.New(io.Discard, "", 0)

// ProxySource is the address that the zoo's proxies connect from, so that a target can
// tell them from anybody who comes directly.
const ProxySource = "127.0.0.2"

// dialTarget connects a proxy to a target. Names go to loopback; those ending in .invalid
// do not exist (RFC 6761 section 6.4).
func dialTarget(hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip == nil {
		if len(host) > 8 && host[len(host)-8:] == ".invalid" {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		host = "127.0.0.1"
	}
	d := net.Dialer{Timeout: 2 * time.Second}
	if ip := net.ParseIP(host); ip.To4() != nil {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(ProxySource)}
	}
	return d.Dial("tcp", net.JoinHostPort(host, port))
}

// pipe copies both ways until both sides are done. buffered is what the client sent early.
func pipe(client, target net.Conn, fromClient io.Reader) {
	target.SetDeadline(time.Now().Add(maxLife))
	var wg sync.WaitGroup
	wg.Go(func() { copyOne(target, fromClient, client) })
	wg.Go(func() { copyOne(client, target, target) })
	wg.Wait()
}

// copyOne passes an end on as it came: a close as a close, a reset as a reset.
func copyOne(to net.Conn, from io.Reader, source net.Conn) {
	_, err := io.Copy(to, from)
	if errors.Is(err, syscall.ECONNRESET) {
		Reset(to)
		Reset(source)
		return
	}
	if t, ok := to.(interface{ CloseWrite() error }); ok {
		t.CloseWrite()
		return
	}
	to.Close()
}
