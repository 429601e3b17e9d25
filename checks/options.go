package checks

import (
	"context"
	"net"
	"net/netip"
	"time"

	"proxyward/checks/verdict"
)

// AddressGuard refuses an address that is about to be dialled by returning an error.
type AddressGuard func(netip.Addr) error

// Resolver finds addresses; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// RunOptions changes how one probe is run. The zero value is the ordinary probe.
type RunOptions struct {
	Guard    AddressGuard // asked for each proxy address really dialled; nil: every address is allowed
	Resolver Resolver     // nil: the system's
	Trace    func(Trace)  // told what happens, secrets masked, on the probe's own goroutine; nil: nobody
	// Stalled reports whether this process itself was not running for a while between the
	// two times; a timeout over such a gap is our own fault. nil: never.
	Stalled func(from, to time.Time) bool
	// Dial replaces the TCP connection to the proxy, for tests. nil: a real one.
	Dial func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
}

// Trace is one thing that happened in a probe.
type Trace struct {
	At    time.Duration // since the probe began
	Stage verdict.Stage
	Kind  string // begin, end, sent, got, note
	Text  string // a line of the conversation, or what was done; never a secret
}
