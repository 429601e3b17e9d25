// Package direct runs a check against its target without any proxy: the control probe that
// tells a target's own fault from a proxy's (guard.control: direct).
//
// It stands apart so that the prober cannot import it: package checks itself has no way to
// a target but through a proxy. Here the transaction is the same, through a SOCKS5 proxy
// that lives in this process and does nothing but connect. Only an operator's word may
// call it: the target sees our own address.
package direct

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
)

// Run is one control probe. Stage tunnel in its verdict is our own connection to the target.
func Run(ctx context.Context, c *checks.Check) verdict.Verdict {
	ep, err := endpoint.New("socks5h", "", "", "127.0.0.1:1")
	if err != nil {
		return verdict.Make(verdict.Resolve, "bad_endpoint", err.Error())
	}
	ctx, cancel := context.WithCancel(ctx)
	var relays sync.WaitGroup
	dial := func(context.Context, netip.AddrPort) (net.Conn, error) {
		ours, its := net.Pipe()
		relays.Go(func() { relay(ctx, its) })
		return ours, nil
	}
	v := c.Run(ctx, ep, checks.RunOptions{Dial: dial})
	cancel()
	relays.Wait()
	return v
}

// relay speaks just enough SOCKS5 (RFC 1928) for one CONNECT without a login.
func relay(ctx context.Context, c net.Conn) {
	defer c.Close()
	var b [262]byte
	if _, err := io.ReadFull(c, b[:3]); err != nil {
		return
	}
	c.Write([]byte{5, 0})
	hostport, err := destination(c, b[:])
	if err != nil {
		return
	}
	var d net.Dialer
	target, err := d.DialContext(ctx, "tcp", hostport)
	if err != nil {
		c.Write([]byte{5, reply(err), 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	defer target.Close()
	if _, err := c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}); err != nil {
		return
	}
	both(c, target)
}

// both copies until either side ends; an end of the target is passed on as it came.
func both(c, target net.Conn) {
	var wg sync.WaitGroup
	wg.Go(func() {
		io.Copy(target, c)
		target.Close()
	})
	io.Copy(c, target)
	c.Close()
	wg.Wait()
}

func destination(c net.Conn, b []byte) (string, error) {
	if _, err := io.ReadFull(c, b[:5]); err != nil {
		return "", err
	}
	size := map[byte]int{1: 4, 3: int(b[4]) + 1, 4: 16}[b[3]]
	if size == 0 {
		return "", errors.New("unknown address type")
	}
	a := b[4 : 4+size+2]
	if _, err := io.ReadFull(c, a[1:]); err != nil {
		return "", err
	}
	port := strconv.Itoa(int(a[size])<<8 | int(a[size+1]))
	if b[3] == 3 {
		return net.JoinHostPort(string(a[1:size]), port), nil
	}
	return net.JoinHostPort(net.IP(a[:size]).String(), port), nil
}

// reply is RFC 1928 section 6's word for why the target was not reached.
func reply(err error) byte {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return 5
	case errors.As(err, &dns), errors.Is(err, syscall.EHOSTUNREACH):
		return 4
	case errors.Is(err, syscall.ENETUNREACH):
		return 3
	case errors.As(err, &timeout) && timeout.Timeout():
		return 6
	}
	return 1
}
