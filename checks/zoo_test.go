package checks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
	"proxyward/internal/zoo"
)

// cannotOccur are the pairs of stage and reason in the table that no peer and no network
// can bring about.
var cannotOccur = map[string]string{
	"request eof":         "a write never meets an end of file: TCP shows a close while we send as a reset",
	"request unreachable": "the kernel tells of a way that broke when we read, unless it breaks between two packets of one request",
	"verify local_error":  "verifying waits for nothing and takes nothing from the system",
}

// Every behaviour of the zoo has its verdict, and between them they show every verdict that
// can occur.
func TestZoo(t *testing.T) {
	t.Parallel()
	all := zoo.Behaviours()
	if len(all) < 150 {
		t.Errorf("only %d behaviours", len(all))
	}
	cage := newCage(t)
	names, shown := map[string]bool{}, map[string]bool{}
	for _, b := range all {
		name := b.Family + "/" + b.Name
		if names[name] {
			t.Errorf("two behaviours are named %q", name)
		}
		names[name] = true
		if words := strings.Fields(b.Want); len(words) == 3 {
			shown[words[0]+" "+words[1]] = true
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want(t, cage.run(t, b), b.Want)
		})
	}
	for _, e := range verdict.Table {
		for _, s := range e.Stages {
			pair := string(s) + " " + string(e.Reason)
			if cannotOccur[pair] == "" && !shown[pair] {
				t.Errorf("no behaviour shows %s", pair)
			}
			if cannotOccur[pair] != "" && shown[pair] {
				t.Errorf("%s does occur", pair)
			}
		}
	}
}

// cage is what behaviours need around them.
type cage struct {
	site       *zoo.Site
	caFile     string
	web, socks *zoo.Server
	gone, full string
}

func newCage(t *testing.T) *cage {
	site := zoo.Target(t, nil)
	return &cage{site: site, caFile: site.CA.File(t, t.TempDir()), web: zoo.ForwardProxy(t, zoo.Options{}), socks: zoo.SOCKS(t, zoo.Options{}),
		gone: zoo.Refused(t).String(), full: full(t)}
}

// run probes a behaviour. A machine that is too busy says so in the verdict; then it is asked
// again.
func (c *cage) run(t *testing.T, b zoo.Behaviour) (v verdict.Verdict) {
	t.Helper()
	spec, proxy := c.spec(t, &b), ""
	for range 3 {
		proxy = c.stage(t, b, &spec)
		v = c.probe(t, b, spec, proxy)
		if v.Blame != verdict.Local || strings.HasSuffix(b.Want, " local") {
			break
		}
	}
	return v
}

func (c *cage) spec(t *testing.T, b *zoo.Behaviour) checks.Spec {
	url := strings.ReplaceAll(b.URL, "GONE", c.gone)
	port := c.site.Plain.Addr.Port()
	if strings.HasPrefix(url, "https:") {
		port = c.site.TLS.Addr.Port()
	}
	spec := request(strings.ReplaceAll(url, "SITE", fmt.Sprintf("%s:%d", zoo.Name, port)) + b.Asks.Path)
	step := &spec.Steps[0]
	if b.Slow {
		const short = 150 * time.Millisecond
		step.Request.Timeouts = checks.Timeouts{Connect: short, Handshake: short, FirstByte: short}
		step.Request.Timeout = 400 * time.Millisecond
	}
	a := b.Asks
	step.Request.Method, step.Request.Body, step.Request.HTTP2, step.Request.FollowRedirects = a.Method, a.Sends, a.HTTP2, a.Follow
	step.Request.TLS = checks.TLS{CAFile: c.caFile, MinVersion: a.MinTLS}
	step.Request.ProxyTLS.CAFile = c.caFile
	x := &step.Expect
	x.MaxHeaders, x.MaxBody, x.MaxLatency, x.BodyMatches = a.MaxHead, a.MaxBody, a.Within, a.Matches
	if a.Status > 0 {
		x.Status = []checks.StatusRange{{From: a.Status, To: a.Status}}
	}
	if a.Body != "" {
		x.BodyContains = []string{a.Body}
	}
	if a.NotBody != "" {
		x.BodyExcludes = []string{a.NotBody}
	}
	if a.Header != "" {
		x.Headers = map[string]string{a.Header: a.Value}
	}
	if a.SHA256Of != "" {
		x.BodySHA256 = sum(a.SHA256Of)
	}
	return spec
}

// stage starts the peer and gives the URL of the proxy; where the peer is the target the
// request is pointed at it.
func (c *cage) stage(t *testing.T, b zoo.Behaviour, spec *checks.Spec) string {
	t.Helper()
	scheme, userinfo, _ := strings.Cut(b.Proxy, "://")
	userinfo, fixed, user := strings.Cut(userinfo, "@")
	if !user {
		userinfo, fixed = "", userinfo
	}
	if b.Serve == nil {
		if fixed == "" {
			fixed = c.gone
		}
		return scheme + "://" + strings.ReplaceAll(fixed, "FULL", c.full)
	}
	peer := c.serve(t, b)
	if !b.Target {
		return peer.URL(scheme, userinfo)
	}
	url := &spec.Steps[0].Request.URL
	*url = strings.Replace(strings.ReplaceAll(b.URL+b.Asks.Path, zoo.Name, fmt.Sprintf("%s:%d", zoo.Name, peer.Addr.Port())), "GONE", c.gone, 1)
	if scheme == "http" {
		return c.web.URL(scheme, userinfo)
	}
	return c.socks.URL(scheme, userinfo)
}

func (c *cage) serve(t *testing.T, b zoo.Behaviour) *zoo.Server {
	t.Helper()
	if b.TLS == nil {
		return zoo.Serve(t, b.Serve)
	}
	host := "127.0.0.1"
	if b.Target {
		host = zoo.Name
	}
	return zoo.ServeTLS(t, b.TLS(t, c.site.CA, host), b.Serve)
}

func (c *cage) probe(t *testing.T, b zoo.Behaviour, spec checks.Spec, proxy string) verdict.Verdict {
	t.Helper()
	ep, err := endpoint.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	o := checks.RunOptions{Resolver: zoo.Names{}}
	if b.Guarded {
		o.Guard = func(a netip.Addr) error {
			if a.IsLoopback() {
				return errors.New("not to be used")
			}
			return nil
		}
	}
	if b.Cut {
		o.Dial = dialCut
	}
	check := compile(t, spec)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if b.Cancel {
		time.AfterFunc(300*time.Millisecond, cancel)
	}
	begin := time.Now()
	v := check.Run(ctx, ep, o)
	// A probe that was held up itself may go on for a second; see late.go.
	if took := time.Since(begin); took > check.Timeout()+1250*time.Millisecond {
		t.Errorf("took %s of %s", took, check.Timeout())
	}
	return v
}

// cutOff is a connection on which a close is seen as a network that cannot be reached.
type cutOff struct{ net.Conn }

func (c cutOff) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == io.EOF {
		err = &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.EHOSTUNREACH)}
	}
	return n, err
}

func dialCut(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr.String())
	return cutOff{c}, err
}

// full is a listener whose queue is full: the kernel drops whoever comes.
func full(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), 0) }); err != nil {
		t.Fatal(err)
	}
	if c, err := net.DialTimeout("tcp", l.Addr().String(), time.Second); err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return l.Addr().String()
}
