package zoo

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Options of a good proxy.
type Options struct {
	User, Password string      // both empty: no login
	TLS            *tls.Config // speak TLS to the clients (scheme https)
	Only           string      // CONNECT: it does no plain forwarding; GET: no CONNECT; empty: both
	Ports          []string    // CONNECT to other ports is refused with 403; empty: all
}

// ForwardProxy starts a good HTTP proxy: absolute-form requests and CONNECT.
func ForwardProxy(t TB, o Options) *Server { return o.forward(t, "127.0.0.1:0") }

// ForwardProxy6 is ForwardProxy at ::1.
func ForwardProxy6(t TB, o Options) *Server { return o.forward(t, loopback6) }

func (o Options) forward(t TB, addr string) *Server {
	t.Helper()
	return serveOn(t, addr, func(c net.Conn) {
		if o.TLS != nil {
			s := tls.Server(c, o.TLS)
			if s.Handshake() != nil {
				return
			}
			c = s
		}
		o.serveHTTP(c)
	})
}

func (o Options) serveHTTP(c net.Conn) {
	r := bufio.NewReader(c)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	connect := req.Method == http.MethodConnect
	switch {
	case o.login() && req.Header.Get("Proxy-Authorization") != o.basic():
		refuse(c, "407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=\"zoo\"\r\n")
	case connect && o.Only == "GET", !connect && o.Only == "CONNECT":
		refuse(c, "405 Method Not Allowed", "")
	case connect && !o.portAllowed(req.Host):
		refuse(c, "403 Forbidden", "")
	case !connect && !req.URL.IsAbs():
		refuse(c, "400 Bad Request", "")
	case connect:
		o.tunnel(c, r, req.Host)
	default:
		forwardOne(c, req)
	}
	drainBriefly(c)
}

func (o Options) login() bool { return o.User != "" || o.Password != "" }

func (o Options) basic() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(o.User+":"+o.Password))
}

func (o Options) portAllowed(hostport string) bool {
	if len(o.Ports) == 0 {
		return true
	}
	for _, p := range o.Ports {
		if strings.HasSuffix(hostport, ":"+p) {
			return true
		}
	}
	return false
}

func (o Options) tunnel(c net.Conn, r io.Reader, hostport string) {
	target, err := dialTarget(hostport)
	if err != nil {
		refuseUpstream(c, err)
		return
	}
	defer target.Close()
	io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
	pipe(c, target, r)
}

// forwardOne passes one request on in origin form, and the answer back byte by byte.
func forwardOne(c net.Conn, req *http.Request) {
	host := req.URL.Host
	if req.URL.Port() == "" {
		host = net.JoinHostPort(req.URL.Hostname(), "80")
	}
	target, err := dialTarget(host)
	if err != nil {
		refuseUpstream(c, err)
		return
	}
	defer target.Close()
	req.Header.Del("Proxy-Authorization")
	req.Header.Set("Via", "1.1 zoo")
	req.Close = true
	if req.Write(target) != nil {
		return
	}
	io.Copy(c, target)
}

// refuseUpstream says why the target was not reached, in the words of RFC 9209.
func refuseUpstream(c net.Conn, err error) {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		refuse(c, "502 Bad Gateway", "Proxy-Status: zoo; error=dns_error\r\n")
	case errors.Is(err, syscall.ECONNREFUSED):
		refuse(c, "502 Bad Gateway", "Proxy-Status: zoo; error=connection_refused\r\n")
	default:
		refuse(c, "504 Gateway Timeout", "Proxy-Status: zoo; error=connection_timeout\r\n")
	}
}

func refuse(c net.Conn, status, headers string) {
	fmt.Fprintf(c, "HTTP/1.1 %s\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n", status, headers)
}

// drainBriefly reads what the client still sends, so that the close is not a reset.
func drainBriefly(c net.Conn) {
	if t, ok := c.(interface{ CloseWrite() error }); ok {
		t.CloseWrite()
	}
	io.CopyN(io.Discard, c, 64<<10)
}
