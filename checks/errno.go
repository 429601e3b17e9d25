package checks

import (
	"errors"
	"syscall"
)

func isOneOf(err error, list ...syscall.Errno) bool {
	var e syscall.Errno
	if !errors.As(err, &e) {
		return false
	}
	for _, l := range list {
		if e == l {
			return true
		}
	}
	return false
}

func isTimeoutErrno(err error) bool { return isOneOf(err, syscall.ETIMEDOUT) }

func isRefusedErrno(err error) bool { return isOneOf(err, syscall.ECONNREFUSED) }

func isResetErrno(err error) bool {
	return isOneOf(err, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED)
}

func isUnreachableErrno(err error) bool {
	return isOneOf(err, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN, syscall.ENOPROTOOPT, syscall.EPROTO)
}

// isResourceErrno: what we have run out of, or may not do, says nothing of the peer.
func isResourceErrno(err error) bool {
	return isOneOf(err, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE,
		syscall.EACCES, syscall.EPERM, syscall.EAFNOSUPPORT, syscall.EINVAL, syscall.EAGAIN)
}
