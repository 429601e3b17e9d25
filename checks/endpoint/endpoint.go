package endpoint

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unique"
)

// Endpoint is one way into one proxy. The zero value is not a valid endpoint. Two
// endpoints are equal (==) if and only if their URLs are.
type Endpoint struct {
	Scheme string // http https socks4 socks4a socks5 socks5h, lower case
	User   string // decoded; empty: none
	Host   string // canonical: ASCII lower case, IPv6 compressed and without brackets
	Port   uint16 // 1-65535

	// password is decoded and never part of the id; the zero handle: none. It is behind a
	// handle since fmt calls no method of a value in somebody's unexported field, but
	// prints what it finds there: of a handle that is an address.
	password unique.Handle[string]
}

// Schemes lists the schemes an endpoint can have. `https` is TLS to the proxy itself;
// socks4 and socks5 resolve the target's name here, socks4a and socks5h at the proxy.
var Schemes = []string{"http", "https", "socks4", "socks4a", "socks5", "socks5h"}

// Parse reads a proxy URL: scheme://[user[:password]@]host:port, with nothing after
// the port but one slash. Escapes in user and password are decoded (RFC 3986 section
// 2.1); a per cent sign that begins no escape stands for itself. No error contains any
// part of the user or password.
func Parse(raw string) (Endpoint, error) {
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		return Endpoint{}, errors.New("no scheme: write scheme://host:port, for example http://192.0.2.1:8080")
	}
	at := strings.LastIndexByte(rest, '@')
	userinfo, hostport := rest[:max(at, 0)], rest[at+1:]
	if strings.ContainsAny(userinfo, "/?#") {
		return Endpoint{}, errors.New("a raw / ? or # before the @: in user or password write %2F %3F %23")
	}
	hostport = strings.TrimSuffix(hostport, "/")
	if strings.ContainsAny(hostport, "/?#") {
		return Endpoint{}, errors.New("something after the port: a proxy URL ends there")
	}
	user, password, _ := strings.Cut(userinfo, ":")
	return New(scheme, unescape(user), unescape(password), hostport)
}

// New makes an endpoint from its parts; user and password are taken as they are,
// hostport is host:port with an IPv6 address in brackets.
func New(scheme, user, password, hostport string) (Endpoint, error) {
	e := Endpoint{Scheme: strings.ToLower(scheme), User: user}
	if !slices.Contains(Schemes, e.Scheme) {
		return Endpoint{}, fmt.Errorf("unknown scheme: use one of %s", strings.Join(Schemes, " "))
	}
	if err := checkCredentials(e.Scheme, user, password); err != nil {
		return Endpoint{}, err
	}
	if password != "" {
		e.password = unique.Make(password)
	}
	host, port, err := splitHostPort(hostport)
	if err != nil {
		return Endpoint{}, err
	}
	e.Port = port
	if e.Host, err = canonicalHost(host); err != nil {
		return Endpoint{}, err
	}
	return e, nil
}

func checkCredentials(scheme, user, password string) error {
	if strings.ContainsAny(user+password, "\r\n\x00") {
		return errors.New("line break or NUL in user or password")
	}
	switch {
	case strings.HasPrefix(scheme, "http") && strings.Contains(user, ":"):
		return errors.New("user with a colon: Basic credentials cannot carry it (RFC 7617 section 2)")
	case strings.HasPrefix(scheme, "socks5") && (len(user) > 255 || len(password) > 255):
		return errors.New("user or password over 255 bytes: SOCKS5 cannot carry it (RFC 1929 section 2)")
	case strings.HasPrefix(scheme, "socks4") && password != "":
		return errors.New("password with SOCKS4: it has only a user id")
	case len(user) > 1024 || len(password) > 1024:
		return errors.New("user or password over 1024 bytes")
	}
	return nil
}

// ID is the canonical name of the endpoint, scheme://[user@]host:port, without its password.
func (e Endpoint) ID() string { return e.join(escape(e.User)) }

// URL is the full proxy URL with the password: a secret. It equals ID where there is none.
func (e Endpoint) URL() string {
	if password := e.Password(); password != "" {
		return e.join(escape(e.User) + ":" + escape(password))
	}
	return e.ID()
}

func (e Endpoint) join(userinfo string) string {
	if userinfo != "" {
		userinfo += "@"
	}
	return e.Scheme + "://" + userinfo + e.Addr()
}

// Addr is host:port as net.Dial takes it.
func (e Endpoint) Addr() string {
	host := e.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(e.Port))
}

// Password is the decoded password, empty where there is none: a secret.
func (e Endpoint) Password() string {
	if e.password == (unique.Handle[string]{}) {
		return ""
	}
	return e.password.Value()
}

// HasCredentials reports whether a user or a password is set.
func (e Endpoint) HasCredentials() bool { return e.User != "" || e.Password() != "" }

// String is the id.
func (e Endpoint) String() string { return e.ID() }

// Format writes the id for every verb, so that no verb prints the password.
func (e Endpoint) Format(f fmt.State, _ rune) { io.WriteString(f, e.ID()) }

// MarshalText is the id.
func (e Endpoint) MarshalText() ([]byte, error) { return []byte(e.ID()), nil }
