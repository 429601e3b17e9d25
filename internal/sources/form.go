package sources

import (
	"errors"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"proxyward/checks/endpoint"
)

// The reasons for which a line is refused before its form is looked at, and those that
// depend on the form. None of them may hold any part of the line.
var (
	errNUL       = errors.New("a NUL byte: this is binary or UTF-16; save the list as UTF-8 text")
	errUTF8      = errors.New("not UTF-8: save the list as UTF-8 text")
	errSpace     = errors.New("white space or a control character inside: write one endpoint a line, a space in a password as %20 in a URL")
	errBrackets  = errors.New("bad host: write an IPv6 address in brackets, [2001:db8::1]:8080")
	errThree     = errors.New("three parts: write host:port, host:port:user:password or user:password@host:port")
	errAmbiguous = errors.New("two readings, host:port:user:password and user:password@host:port: write it as a URL")
)

// parseEndpoint reads one line in any of the four forms.
func parseEndpoint(text []byte, scheme string) (endpoint.Endpoint, error) {
	if err := readable(text); err != nil {
		return endpoint.Endpoint{}, err
	}
	s := string(text)
	switch {
	case hasScheme(s):
		return endpoint.Parse(s)
	case strings.Contains(s, "@"):
		return parseAt(s, scheme)
	}
	return parseParts(s, scheme)
}

func readable(text []byte) error {
	control := false
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == 0:
			return errNUL
		case r == utf8.RuneError && n == 1:
			return errUTF8
		}
		control = control || unicode.IsSpace(r) || unicode.IsControl(r) || r == '\ufeff'
		i += n
	}
	if control {
		return errSpace
	}
	return nil
}

// hasScheme: a :// in a password has a colon or an @ before it.
func hasScheme(s string) bool {
	before, _, found := strings.Cut(s, "://")
	return found && !strings.ContainsAny(before, ":@/[]")
}

// parseAt reads user:password@host:port, or the four-part form with an @ in its user or
// password. Where both readings are sound the line is refused: the wrong one would send a
// password to a stranger.
func parseAt(s, scheme string) (endpoint.Endpoint, error) {
	_, err := endpoint.New(scheme, "", "", s[strings.LastIndexByte(s, '@')+1:])
	host, _, _, isFour := fourParts(s)
	if isFour && strings.ContainsAny(host, ".[") {
		raw, rawErr := parseParts(s, scheme)
		switch {
		case rawErr == nil && err == nil:
			return endpoint.Endpoint{}, errAmbiguous
		case rawErr == nil:
			return raw, nil
		}
	}
	return endpoint.Parse(scheme + "://" + s)
}

// parseParts reads host:port and host:port:user:password.
func parseParts(s, scheme string) (endpoint.Endpoint, error) {
	if bareIPv6(s) {
		return endpoint.Endpoint{}, errBrackets
	}
	host, port, credentials, isFour := fourParts(s)
	if !isFour {
		if strings.Count(s[strings.LastIndexByte(s, ']')+1:], ":") > 1 {
			return endpoint.Endpoint{}, errThree
		}
		return endpoint.New(scheme, "", "", s)
	}
	user, password, _ := strings.Cut(credentials, ":")
	return endpoint.New(scheme, user, password, host+":"+port)
}

// fourParts splits host:port:user:password; the password may hold colons.
func fourParts(s string) (host, port, credentials string, ok bool) {
	end := 0
	if strings.HasPrefix(s, "[") {
		end = strings.IndexByte(s, ']') + 1
	}
	colon := strings.IndexByte(s[end:], ':')
	if colon < 0 {
		return "", "", "", false
	}
	host = s[:end+colon]
	port, credentials, ok = strings.Cut(s[end+colon+1:], ":")
	return host, port, credentials, ok && strings.Contains(credentials, ":")
}

// bareIPv6: an IPv6 address without brackets, alone or with a port after it.
func bareIPv6(s string) bool {
	if a, err := netip.ParseAddr(s); err == nil && a.Is6() {
		return true
	}
	a, err := netip.ParseAddr(s[:max(0, strings.LastIndexByte(s, ':'))])
	return err == nil && a.Is6()
}
