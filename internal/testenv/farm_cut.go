package testenv

import (
	"net"
	"syscall"
	"testing"
	"unsafe"
)

// bpfProgram is struct sock_fprog of linux/filter.h.
type bpfProgram struct {
	length uint16
	filter *syscall.SockFilter
}

// Cut makes the proxies unreachable: whoever connects gets no answer, as behind a cable
// that was pulled. It filters every packet off the listening sockets.
func (f *Farm) Cut(t testing.TB) {
	t.Helper()
	drop := syscall.SockFilter{Code: syscall.BPF_RET | syscall.BPF_K, K: 0}
	program := bpfProgram{1, &drop}
	f.eachSocket(t, syscall.SO_ATTACH_FILTER, unsafe.Pointer(&program), unsafe.Sizeof(program))
}

// Mend undoes Cut.
func (f *Farm) Mend(t testing.TB) {
	t.Helper()
	var none int32
	f.eachSocket(t, syscall.SO_DETACH_FILTER, unsafe.Pointer(&none), unsafe.Sizeof(none))
}

func (f *Farm) eachSocket(t testing.TB, option uintptr, value unsafe.Pointer, size uintptr) {
	t.Helper()
	for _, l := range f.listeners {
		raw, err := l.(*net.TCPListener).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var failed syscall.Errno
		if err := raw.Control(func(fd uintptr) {
			_, _, failed = syscall.Syscall6(syscall.SYS_SETSOCKOPT, fd, syscall.SOL_SOCKET, option, uintptr(value), size, 0)
		}); err != nil || failed != 0 {
			t.Fatal(err, failed)
		}
	}
}

// Close ends the first n proxies for good: connections to them are refused.
func (f *Farm) Close(n int) {
	for _, l := range f.listeners[:n] {
		l.Close()
	}
}
