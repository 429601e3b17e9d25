package embedded

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Scheme is how a Redis URL asks for the server in the process.
const Scheme = "embedded"

// DefaultAddr is where it listens when the URL names no address: the loopback interface,
// at a port that no Redis uses by default.
const DefaultAddr = "127.0.0.1:6399"

// DefaultURL is where clients find the server at DefaultAddr.
const DefaultURL = "redis://" + DefaultAddr + "/0"

// Notice is what its users must know.
const Notice = "nothing is kept when it ends; good for up to about 3,000 endpoints"

var errAddress = errors.New("bad embedded Redis URL: write embedded://HOST:PORT, or embedded:// for " + DefaultAddr)

// Is reports whether the URL asks for the server in the process.
func Is(rawURL string) bool {
	return strings.HasPrefix(strings.ToLower(rawURL), Scheme+":")
}

// Address is the host:port that an embedded:// URL names. Without a host it is the
// loopback interface; port 0 picks a free one.
func Address(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil || !strings.EqualFold(u.Scheme, Scheme) || strings.Trim(u.Path, "/0") != "" || u.RawQuery != "" {
		return "", errAddress
	}
	if u.Host == "" {
		return DefaultAddr, nil
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		return "", errAddress
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", errAddress
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// ClientURL is where a client finds the server that an embedded:// URL names; false for
// a port that only the server itself knows.
func ClientURL(rawURL string) (string, bool, error) {
	addr, err := Address(rawURL)
	if err != nil {
		return "", false, err
	}
	return "redis://" + addr + "/0", !strings.HasSuffix(addr, ":0"), nil
}
