//go:build !linux

package checks

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// dialTCP opens a TCP connection that gives its port back at once when closed.
func dialTCP(ctx context.Context, addr netip.AddrPort, end time.Time, _ bool) (net.Conn, error) {
	d := net.Dialer{Deadline: end, KeepAlive: -1}
	c, err := d.DialContext(ctx, "tcp", addr.String())
	if err != nil {
		return nil, err
	}
	c.(*net.TCPConn).SetLinger(0)
	return c, nil
}
