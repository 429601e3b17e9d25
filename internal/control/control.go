package control

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
)

// Direct runs the check once without a proxy. A failure to reach the target has the stage
// tunnel, as if a proxy without fault had said it.
func Direct(ctx context.Context, c *checks.Check) verdict.Verdict {
	var tunnels sync.WaitGroup
	defer tunnels.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	inside, err := endpoint.New("socks5h", "", "", "127.0.0.1:1")
	if err != nil { // a constant
		panic(err)
	}
	v := c.Run(ctx, inside, checks.RunOptions{Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
		ours, theirs := net.Pipe()
		tunnels.Go(func() { serve(ctx, theirs) })
		return ours, nil
	}})
	if !v.Passed && v.Blame != verdict.Local {
		v.Blame = verdict.Target // nobody else was there
	}
	return v
}

// dialTimeout bounds the connection to the target; the check's own timeouts are usually shorter.
const dialTimeout = 30 * time.Second

// serve is the proxy's side of one SOCKS5 exchange (RFC 1928 sections 3 to 6) and of the
// tunnel after it.
func serve(ctx context.Context, c net.Conn) {
	defer c.Close()
	address, err := accept(c)
	if err != nil {
		return
	}
	target, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", address)
	if _, sent := c.Write([]byte{5, replyCode(err), 0, 1, 0, 0, 0, 0, 0, 0}); sent != nil || err != nil {
		if err == nil {
			target.Close()
		}
		return
	}
	stop := context.AfterFunc(ctx, func() { target.Close() })
	defer stop()
	var back sync.WaitGroup
	back.Go(func() {
		io.Copy(c, target)
		c.Close()
	})
	io.Copy(target, c)
	target.Close()
	back.Wait()
}

// accept reads the greeting and the request, and gives the address asked for.
func accept(c net.Conn) (string, error) {
	var b [256]byte
	read := func(n int) error { _, err := io.ReadFull(c, b[:n]); return err }
	if err := read(2); err != nil {
		return "", err
	}
	if err := read(int(b[1])); err != nil {
		return "", err
	}
	if _, err := c.Write([]byte{5, 0}); err != nil {
		return "", err
	}
	if err := read(4); err != nil {
		return "", err
	}
	var host string
	switch b[3] {
	case 1, 4:
		n := map[byte]int{1: 4, 4: 16}[b[3]]
		if err := read(n); err != nil {
			return "", err
		}
		a, _ := netip.AddrFromSlice(b[:n])
		host = a.String()
	case 3:
		if err := read(1); err != nil {
			return "", err
		}
		n := int(b[0])
		if err := read(n); err != nil {
			return "", err
		}
		host = string(b[:n])
	default:
		return "", errors.New("unknown address type")
	}
	if err := read(2); err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(b[:2])))), nil
}

// replyCode is the reply of RFC 1928 section 6 for how the dial ended.
func replyCode(err error) byte {
	var dns *net.DNSError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.ECONNREFUSED):
		return 5
	case errors.Is(err, syscall.ENETUNREACH):
		return 3
	case errors.Is(err, syscall.EHOSTUNREACH), errors.As(err, &dns):
		return 4
	}
	return 1
}
