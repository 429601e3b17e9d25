package e2e_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"proxyward/internal/testenv"
)

// door is an HTTP proxy for CONNECT that behaves as the test says.
type door struct {
	Addr string

	t      *testing.T
	mu     sync.Mutex
	listen net.Listener  // nil: nobody listens
	right  string        // the only right password; empty: any
	hold   chan struct{} // if not nil, clients wait here before they are answered
	logins []string      // the passwords that came, in order
	inside int           // clients that are being served
	most   int           // at once, at most
	wg     sync.WaitGroup
}

// newDoor starts a door that lets everybody through.
func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{t: t, Addr: testenv.Nobody(t)}
	d.Open()
	t.Cleanup(func() { d.Shut(); d.wg.Wait() })
	return d
}

// Open listens; Shut refuses connections.
func (d *door) Open() {
	d.t.Helper()
	l, err := net.Listen("tcp", d.Addr)
	if err != nil {
		d.t.Fatal(err)
	}
	d.mu.Lock()
	d.listen = l
	d.mu.Unlock()
	d.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d.wg.Go(func() { defer c.Close(); d.serve(c) })
		}
	})
}

func (d *door) Shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listen != nil {
		d.listen.Close()
		d.listen = nil
	}
}

// Right makes one password the only right one; empty: every one is.
func (d *door) Right(password string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.right = password
}

// Hold makes clients wait for their answer until release is called, or the test ends.
func (d *door) Hold() (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	hold := make(chan struct{})
	d.hold = hold
	release = sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.hold = nil
		close(hold)
	})
	d.t.Cleanup(release)
	return release
}

// Logins are the passwords that came, in order.
func (d *door) Logins() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.logins...)
}

// Most is how many clients were served at once, at most.
func (d *door) Most() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.most
}

func (d *door) serve(c net.Conn) {
	from := bufio.NewReader(c)
	r, err := http.ReadRequest(from)
	if err != nil {
		return
	}
	login, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Proxy-Authorization"), "Basic "))
	_, password, _ := strings.Cut(string(login), ":")
	d.mu.Lock()
	d.logins = append(d.logins, password)
	refused, hold := d.right != "" && d.right != password, d.hold
	d.inside++
	d.most = max(d.most, d.inside)
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.inside--
		d.mu.Unlock()
	}()
	if hold != nil {
		<-hold
	}
	if refused {
		fmt.Fprint(c, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"door\"\r\nContent-Length: 0\r\n\r\n")
		return
	}
	to, err := net.Dial("tcp", r.Host)
	if err != nil {
		fmt.Fprint(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return
	}
	defer to.Close()
	fmt.Fprint(c, "HTTP/1.1 200 Connection established\r\n\r\n")
	var both sync.WaitGroup
	both.Go(func() { io.Copy(to, from); to.(*net.TCPConn).CloseWrite() })
	io.Copy(c, to)
	c.Close()
	both.Wait()
}

// URL is the door's, with a login.
func (d *door) URL(password string) string {
	return strings.Replace(d.ID(), "@", ":"+password+"@", 1)
}

// ID is its endpoint id.
func (d *door) ID() string { return "http://" + testenv.User + "@" + d.Addr }
