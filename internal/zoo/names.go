package zoo

import (
	"context"
	"net"
	"net/netip"
)

// Names is a resolver: absent.test has no address, the servers of broken.test fail, for
// unasked.test no resolver is reached, mute.test gets no answer, all others are on loopback.
type Names struct{}

// LookupNetIP is net.Resolver's.
func (Names) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	switch host {
	case "absent.test":
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	case "broken.test":
		return nil, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	case "unasked.test":
		return nil, &net.DNSError{Err: "read udp: connection refused", Name: host}
	case "mute.test":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}
