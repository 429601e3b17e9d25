//go:build unix

package cli

import "syscall"

// descriptors is how many files and sockets this process may have open; 0: not known. The
// Go runtime has raised it as far as it may.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) // signed on some systems
}
