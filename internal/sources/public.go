package sources

import (
	"fmt"
	"net/netip"
)

// notPublic are ranges that no proxy on the internet has: IANA's special-purpose address
// registries (RFC 6890), beside those that netip tells.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("fec0::/10"),
}

// nat64 embeds an IPv4 address in its last four bytes (RFC 6052 section 2.1), and 6to4 in
// bytes 2 to 5 (RFC 3056 section 2): the address reached is that one.
var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

// PublicOnly refuses loopback, link-local (the metadata services of clouds among them),
// private and other special addresses: what a stranger's list must not make us call.
func PublicOnly(a netip.Addr) error {
	a = a.Unmap()
	bytes := a.As16()
	switch {
	case nat64.Contains(a):
		a = netip.AddrFrom4([4]byte(bytes[12:]))
	case sixTo4.Contains(a):
		a = netip.AddrFrom4([4]byte(bytes[2:6]))
	}
	special := a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified() || a.IsMulticast()
	for _, p := range notPublic {
		special = special || p.Contains(a)
	}
	if special {
		return fmt.Errorf("%s is no public address: allow_private at the source permits it", a)
	}
	return nil
}
