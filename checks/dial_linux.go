package checks

import (
	"context"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// dialTCP opens a TCP connection by hand on Go's poller: without the name lookups, address
// copies and socket options of net.Dialer it costs about half. An error that the kernel
// gives before a packet is sent is a *localDialError. flights says that messages will be sent
// one after another without an answer between them.
func dialTCP(ctx context.Context, addr netip.AddrPort, end time.Time, flights bool) (net.Conn, error) {
	fd, err := socket(addr, flights)
	if err != nil {
		return nil, &localDialError{err}
	}
	sa := sockaddr(addr)
	pending, err := startConnect(fd, sa)
	if err != nil {
		syscall.Close(fd)
		return nil, err
	}
	c := &tcpConn{File: os.NewFile(uintptr(fd), ""), peer: addr}
	c.stop = context.AfterFunc(ctx, interrupter(c))
	if pending {
		if err := c.finish(ctx, end, fd, sa); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// socket makes one that gives its port back at once when closed (SO_LINGER 0). A TLS
// handshake's last flight and the request follow each other: Nagle's algorithm would hold
// the second back, and only there.
func socket(addr netip.AddrPort, flights bool) (int, error) {
	family := syscall.AF_INET
	if addr.Addr().Is6() {
		family = syscall.AF_INET6
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if flights {
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	}
	syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	return fd, nil
}

func sockaddr(addr netip.AddrPort) syscall.Sockaddr {
	if addr.Addr().Is6() {
		return &syscall.SockaddrInet6{Port: int(addr.Port()), Addr: addr.Addr().As16()}
	}
	return &syscall.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}
}

func startConnect(fd int, sa syscall.Sockaddr) (pending bool, err error) {
	switch err = syscall.Connect(fd, sa); err {
	case nil:
		return false, nil
	case syscall.EINPROGRESS, syscall.EINTR, syscall.EALREADY:
		return true, nil
	case syscall.ECONNREFUSED, syscall.ECONNRESET: // loopback answers within the call
		return false, os.NewSyscallError("connect", err)
	}
	return false, &localDialError{os.NewSyscallError("connect", err)}
}

// tcpConn is a socket made by hand.
type tcpConn struct {
	*os.File
	peer netip.AddrPort
	stop func() bool // ends the watch over the probe's context
}

func (c *tcpConn) watchesContext() {}

func (c *tcpConn) Close() error {
	c.stop()
	return c.File.Close()
}

// finish waits until the connection stands, is refused, or the time is over.
func (c *tcpConn) finish(ctx context.Context, end time.Time, fd int, sa syscall.Sockaddr) error {
	c.SetDeadline(end)
	if ctx.Err() != nil { // it may have been cancelled just before
		return ctx.Err()
	}
	rc, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var status error
	err = rc.Write(func(uintptr) bool {
		// Asking by connect and not by waiting first: the socket may have become writable
		// before this wait began, and that is told only once.
		switch status = syscall.Connect(fd, sa); status {
		case syscall.EALREADY, syscall.EINPROGRESS, syscall.EINTR:
			return false
		case nil, syscall.EISCONN:
			status = nil
		default:
			status = os.NewSyscallError("connect", status)
		}
		return true
	})
	if err != nil && timedOut(err) && c.connected(fd, sa) {
		return nil
	}
	if err != nil {
		return err
	}
	return status
}

// connected reports, at the end of the time, whether the connection stands after all: then it
// was this process that came late.
func (c *tcpConn) connected(fd int, sa syscall.Sockaddr) bool {
	rc, err := c.SyscallConn()
	if err != nil {
		return false
	}
	stands := false
	rc.Control(func(uintptr) {
		err := syscall.Connect(fd, sa)
		stands = err == nil || err == syscall.EISCONN
	})
	return stands
}

func (c *tcpConn) LocalAddr() net.Addr  { return &net.TCPAddr{} }
func (c *tcpConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.peer) }

// readLate reads past an expired deadline what the kernel holds already.
func (c *tcpConn) readLate(b []byte) int {
	rc, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	rc.Control(func(fd uintptr) { n, _, _ = syscall.Recvfrom(int(fd), b, syscall.MSG_DONTWAIT) })
	return max(n, 0)
}

// refused reports whether the connection has been reset by now.
func (c *tcpConn) refused() bool {
	rc, err := c.SyscallConn()
	if err != nil {
		return false
	}
	code := 0
	rc.Control(func(fd uintptr) { code, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR) })
	return code != 0
}
