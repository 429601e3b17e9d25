package configs

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Admin is the HTTP interface for operators.
type Admin struct {
	Listen            string // host:port, or unix: and a path; empty: none
	Asked             bool   // listen stands in the file: it is not the default
	TokenFile         string // empty: no token
	CertFile, KeyFile string // both or none
	Pprof             bool

	env Env
}

// longestSocket is what fits into sun_path of a unix socket's address, with its final NUL (unix(7)).
const longestSocket = 107

// tokenLeast is how many bytes a token has at least: 16 random ones nobody guesses.
const tokenLeast = 16

func (d *decoder) admin(a *adminFile) Admin {
	const listen = "admin.listen"
	out := Admin{Listen: a.listen.value, Asked: d.given(listen), TokenFile: a.tokenFile.value,
		CertFile: a.certFile.value, KeyFile: a.keyFile.value, Pprof: a.pprof, env: d.env}
	path, isUnix := strings.CutPrefix(out.Listen, "unix:")
	switch {
	case isUnix && !strings.HasPrefix(path, "/"):
		d.wrong(listen, "not a socket: write unix: and an absolute path")
	case len(path) > longestSocket && isUnix:
		d.wrong(listen, "the socket's path has %d bytes, and %d are allowed: choose a shorter one", len(path), longestSocket)
	case !isUnix && out.Listen != "" && !hostPort(out.Listen, 0):
		d.wrong(listen, `not an address: write host:port, unix:/PATH, or "" for none`)
	case out.Beyond() && (out.TokenFile == "" || out.CertFile == ""):
		d.wrong(listen, "%s can be reached from other machines: set admin.token_file and admin.tls (cert_file, key_file), or listen on 127.0.0.1:PORT or unix:/PATH", out.Listen)
	}
	switch {
	case (out.CertFile == "") != (out.KeyFile == ""):
		d.wrong("admin.tls", "half of it: set cert_file and key_file")
	case isUnix && out.CertFile != "":
		d.wrong("admin.tls", "useless on a unix socket: leave it out")
	}
	if out.Pprof && out.TokenFile == "" {
		d.wrong("admin.pprof", "profiles show what is in memory: set admin.token_file, or leave pprof out")
	}
	return out
}

// Beyond reports whether other machines can reach what it listens on.
func (a Admin) Beyond() bool {
	if a.Listen == "" || strings.HasPrefix(a.Listen, "unix:") {
		return false
	}
	host, _, err := net.SplitHostPort(a.Listen)
	return err != nil || !loopback(host)
}

// Token reads the token, that of the moment; none where no file is named. Its errors say
// where, what and how to mend, and never show it.
func (a Admin) Token() (Secret, error) {
	if a.TokenFile == "" {
		return Secret{}, nil
	}
	token, err := a.env.secretFile(a.TokenFile)
	switch {
	case err != nil:
		return Secret{}, fmt.Errorf("admin.token_file: %w", err)
	case len(token) < tokenLeast:
		return Secret{}, fmt.Errorf("admin.token_file: the token in %s has %d bytes: write at least %d random ones (openssl rand -hex 32)", a.TokenFile, len(token), tokenLeast)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Secret{}, fmt.Errorf("admin.token_file: the token in %s cannot stand in a header: write one line of letters and digits (openssl rand -hex 32)", a.TokenFile)
	}
	return NewSecret(token), nil
}

// Certificate reads the certificate and its key, those of the moment; nil: no TLS.
func (a Admin) Certificate() (*tls.Certificate, error) {
	if a.CertFile == "" {
		return nil, nil
	}
	cert, err := a.env.secretFile(a.CertFile)
	if err != nil {
		return nil, fmt.Errorf("admin.tls.cert_file: %w", err)
	}
	key, err := a.env.secretFile(a.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("admin.tls.key_file: %w", err)
	}
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		return nil, fmt.Errorf("admin.tls: %s and %s are no certificate and its key: %s", a.CertFile, a.KeyFile, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return &pair, nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
