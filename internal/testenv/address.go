package testenv

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
)

var ports atomic.Int64

// Address is a place on loopback that nobody else has: the host is this process's own, the
// port is below those that outgoing connections take, and no other test gets it.
func Address(t testing.TB) (host string, port int) {
	t.Helper()
	n, pid := ports.Add(1), os.Getpid()
	if n > 12_000 {
		t.Fatal("out of addresses")
	}
	return fmt.Sprintf("127.%d.%d.%d", 100+pid>>16&63, pid>>8&255, pid&255), 20_000 + int(n)
}

// Nobody is an address where nobody listens.
func Nobody(t testing.TB) string {
	t.Helper()
	host, port := Address(t)
	return fmt.Sprintf("%s:%d", host, port)
}
