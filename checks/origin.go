package checks

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// origin is scheme, host and port of a target (RFC 6454 section 4).
type origin struct {
	secure bool
	host   string // canonical, IPv6 without brackets
	port   uint16
}

func originOf(u *url.URL) (origin, error) {
	o := origin{secure: strings.EqualFold(u.Scheme, "https"), port: 80}
	if !o.secure && !strings.EqualFold(u.Scheme, "http") {
		return o, errors.New("scheme is neither http nor https: write https://host/path")
	}
	if o.secure {
		o.port = 443
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return o, errors.New("bad port: write a number from 1 to 65535")
		}
		o.port = uint16(n)
	}
	host, ok := hostASCII(u.Hostname())
	if !ok {
		return o, errors.New("bad host: write a host name or an IP address after //")
	}
	o.host = host
	return o, nil
}

// bracketed is the host as it stands in a URL.
func (o origin) bracketed() string {
	if strings.Contains(o.host, ":") {
		return "[" + o.host + "]"
	}
	return o.host
}

// hostPort always has the port: the authority of CONNECT (RFC 9110 section 9.3.6).
func (o origin) hostPort() string { return o.bracketed() + ":" + strconv.Itoa(int(o.port)) }

// hostHeader leaves the scheme's own port out.
func (o origin) hostHeader() string {
	if o.secure && o.port == 443 || !o.secure && o.port == 80 {
		return o.bracketed()
	}
	return o.hostPort()
}

func (o origin) scheme() string {
	if o.secure {
		return "https"
	}
	return "http"
}

func (o origin) String() string { return o.scheme() + "://" + o.hostPort() }

// cleanURL is u with a canonical scheme and host, and nothing that a request does not send.
func cleanURL(u *url.URL, o origin) *url.URL {
	c := *u
	c.Scheme, c.Host, c.User, c.Fragment, c.RawFragment = o.scheme(), o.hostHeader(), nil, "", ""
	if c.Path == "" {
		c.Path = "/"
	}
	c.RawQuery = escapeQuery(c.RawQuery)
	return &c
}

// escapeQuery encodes the bytes that url.Parse lets through and a request line must not
// hold: blanks would end the target there.
func escapeQuery(q string) string {
	const hexits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(q) {
		if c := q[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			b.Write([]byte{'%', hexits[c>>4], hexits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// withoutURL is what a parse error says, without the URL in it: it may hold a secret.
func withoutURL(err error) string {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}
