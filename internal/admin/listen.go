package admin

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// listen listens at host:port, or on the unix socket at a path; remove takes that away.
func listen(address string) (l net.Listener, remove func(), err error) {
	if path, isUnix := strings.CutPrefix(address, "unix:"); isUnix {
		return listenUnix(path)
	}
	l, err = net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, nil, fmt.Errorf("admin.listen: %s is taken by another process: write another port, or \"\" for none", address)
	case err != nil:
		return nil, nil, fmt.Errorf("admin.listen: cannot listen at %s: %w: correct the address, or write \"\" for none", address, cause(err))
	}
	return l, func() {}, nil
}

// listenUnix listens on a socket that its owner and its group may use. One that nobody
// listens on any more is replaced.
func listenUnix(path string) (net.Listener, func(), error) {
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return nil, nil, fmt.Errorf("admin.listen: another process listens on %s: write another path, or \"\" for none", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket == 0 {
		return nil, nil, fmt.Errorf("admin.listen: %s is there and no socket: remove it, or write another path", path)
	}
	own := fmt.Sprintf("%s.%d", path, os.Getpid()) // nobody finds it before it has its mode
	os.Remove(own)
	l, err := net.Listen("unix", own)
	if err == nil {
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		if err = os.Chmod(own, 0o660); err == nil {
			err = os.Rename(own, path)
		}
		if err != nil {
			l.Close()
			os.Remove(own)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("admin.listen: cannot make the socket %s: %w: let the user that runs proxyward write its directory (RuntimeDirectory=proxyward)", path, cause(err))
	}
	return l, func() { os.Remove(path) }, nil
}

// cause is the last error of a chain: what the kernel said, without the address, which the caller tells.
func cause(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}
