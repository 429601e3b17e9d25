package endpoint

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

func splitHostPort(hostport string) (host string, port uint16, err error) {
	colon := strings.LastIndexByte(hostport, ':')
	if colon < 0 || strings.HasSuffix(hostport, "]") {
		return "", 0, errors.New("no port: write host:port")
	}
	host, digits := hostport[:colon], hostport[colon+1:]
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return "", 0, errors.New("bad port: write a number from 1 to 65535")
	}
	if strings.HasPrefix(host, "[") != strings.HasSuffix(host, "]") || strings.Contains(host, ":") && host[0] != '[' {
		return "", 0, errors.New("bad host: write an IPv6 address in brackets, [2001:db8::1]:8080")
	}
	return host, uint16(n), nil
}

func canonicalHost(host string) (string, error) {
	if strings.HasPrefix(host, "[") {
		a, err := netip.ParseAddr(host[1 : len(host)-1])
		if err != nil || !a.Is6() || a.Zone() != "" {
			return "", errors.New("bad IPv6 address between the brackets")
		}
		return a.String(), nil
	}
	name, err := toASCII(host)
	if err != nil {
		return "", err
	}
	name = strings.TrimSuffix(name, ".")
	if !endsInNumber(name) {
		return name, checkName(name)
	}
	a, err := netip.ParseAddr(name)
	if err != nil || !a.Is4() {
		return "", errors.New("bad IPv4 address: write four decimal numbers 0-255 without leading zeros")
	}
	return a.String(), nil
}

// toASCII also maps wide digits and dots, so what it returns may still be an address.
func toASCII(host string) (string, error) {
	if strings.IndexFunc(host, func(r rune) bool { return r > 0x7f }) < 0 {
		return strings.ToLower(host), nil
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil || !utf8.ValidString(host) {
		return "", errors.New("bad host name: it has no ASCII form (IDNA)")
	}
	return ascii, nil
}

// endsInNumber follows the WHATWG URL standard (host parsing, "ends in a number"): such
// a host is an IPv4 address or nothing, so that 127.1 or 0x7f.1 is no name.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, found := strings.CutPrefix(last, "0x")
	return found && strings.Trim(hex, "0123456789abcdef") == ""
}

func checkName(name string) error {
	if name == "" {
		return errors.New("no host: write host:port")
	}
	if len(name) > 253 {
		return errors.New("bad host name: over 253 characters")
	}
	for label := range strings.SplitSeq(name, ".") {
		// Underscores are no host names by RFC 1123, yet resolvers serve them.
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return errors.New("bad host name: labels of 1-63 letters, digits, - or _")
		}
	}
	return nil
}
