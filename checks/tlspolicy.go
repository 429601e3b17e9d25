package checks

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"sync"
	"sync/atomic"
	"time"

	"proxyward/internal/files"
)

// tlsPolicy is how one kind of peer is spoken to in TLS: the target, or https proxies.
// It is shared by all probes of a check.
type tlsPolicy struct {
	base   *tls.Config // cloned only where another name is asked for
	roots  *x509.CertPool
	pinned string // server_name: what the certificate must be for, whatever the host
	byName sync.Map
	known  chains
	wide   atomic.Bool // a peer has refused our short list of key exchanges: offer all
}

// narrow is what is offered first. P-256 is mandatory for every TLS 1.3 peer (RFC 8446
// section 9.1) and by far the cheapest here; Go's own default, a hybrid with ML-KEM,
// would be a third of a handshake's cost. Go orders the list itself and would put X25519
// first, so that it is offered only to a peer that refused this list.
var (
	narrow = []tls.CurveID{tls.CurveP256, tls.CurveP384}
	broad  = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}
)

func compileTLS(f faults, t TLS, http2 string) *tlsPolicy {
	p := &tlsPolicy{pinned: t.ServerName}
	p.base = &tls.Config{MinVersion: minVersion(f, t.MinVersion), CurvePreferences: narrow, NextProtos: alpn(http2)}
	if t.ServerName != "" {
		if host, ok := hostASCII(t.ServerName); ok {
			p.pinned = host
		} else {
			f.add("server_name", "not a host name: write the name that the certificate is for")
		}
	}
	if t.CAFile != "" {
		p.roots = readRoots(f, t.CAFile)
	}
	if t.Resume {
		p.base.ClientSessionCache = tls.NewLRUClientSessionCache(64)
	}
	// Verification is ours so that a chain is verified once and not in every probe, and
	// so that an expired certificate of an unknown issuer is called untrusted. It is not
	// weaker than crypto/tls's: see chains.verify.
	p.base.InsecureSkipVerify = true
	return p
}

func alpn(http2 string) []string {
	switch http2 {
	case "auto":
		return []string{"h2", "http/1.1"}
	case "require":
		return []string{"h2"}
	}
	return []string{"http/1.1"}
}

func minVersion(f faults, v string) uint16 {
	switch v {
	case "", "1.2":
		return tls.VersionTLS12
	case "1.3":
		return tls.VersionTLS13
	}
	f.add("min_version", `unknown version: write "1.2" or "1.3"`)
	return tls.VersionTLS12
}

// maxCA is how large a CA file may be, in bytes.
const maxCA = 1 << 20

func readRoots(f faults, file string) *x509.CertPool {
	pem, err := files.Read(file, maxCA)
	if err != nil {
		f.add("ca_file", "%s: write the path of a PEM file", err)
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		f.add("ca_file", "%s holds no certificate in PEM form", file)
	}
	return pool
}

// config is the configuration for a peer of that name. Configurations of the few names
// that targets have are kept; those of proxies, which may be a hundred thousand, are not.
func (t *tlsPolicy) config(name string, keep bool) *tls.Config {
	if t.pinned != "" {
		name = t.pinned
	}
	type key struct {
		name string
		wide bool
	}
	k := key{name, t.wide.Load()}
	if c, ok := t.byName.Load(k); ok {
		return c.(*tls.Config)
	}
	c := t.base.Clone()
	c.ServerName = name
	if k.wide {
		c.CurvePreferences = broad
	}
	c.VerifyConnection = func(s tls.ConnectionState) error { return t.known.verify(s, t.roots, name) }
	if keep || t.pinned != "" {
		t.byName.Store(k, c)
	}
	return c
}

// chains remembers which leaf certificates have been verified, and until when that holds:
// to the end of the shortest life in the chain. The handshake itself proves in every
// probe that the peer holds the leaf's key.
type chains struct {
	mu    sync.RWMutex
	until map[chainKey]time.Time
}

type chainKey struct {
	leaf [32]byte
	name string
}

// maxChains bounds the memory that strangers' certificates may take; over it all is forgotten.
const maxChains = 4096

// certError says which event a refused certificate is.
type certError struct{ event, more string }

func (e *certError) Error() string { return "certificate refused: " + e.event + ": " + e.more }

func (c *chains) verify(s tls.ConnectionState, roots *x509.CertPool, name string) error {
	if len(s.PeerCertificates) == 0 {
		return &certError{"cert_untrusted", "no certificate was shown"}
	}
	now := time.Now()
	k := chainKey{sha256.Sum256(s.PeerCertificates[0].Raw), name}
	c.mu.RLock()
	end, ok := c.until[k]
	c.mu.RUnlock()
	if ok && now.Before(end) {
		return nil
	}
	end, err := verifyChain(s.PeerCertificates, roots, name, now)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil || len(c.until) >= maxChains {
		c.until = map[chainKey]time.Time{}
	}
	c.until[k] = end
	return nil
}

// verifyChain tells the three faults apart: an unknown issuer before everything, because
// only then is the rest of the certificate anybody's word; then the time; then the name.
func verifyChain(certs []*x509.Certificate, roots *x509.CertPool, name string, now time.Time) (time.Time, error) {
	leaf := certs[0]
	o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool(), CurrentTime: now}
	for _, c := range certs[1:] {
		o.Intermediates.AddCert(c)
	}
	found, err := leaf.Verify(o)
	if err != nil {
		if within, ok := whenValid(certs, now); ok {
			o.CurrentTime = within
			if _, again := leaf.Verify(o); again == nil {
				return now, &certError{"cert_expired", "valid from " + leaf.NotBefore.UTC().Format(time.DateOnly) + " to " + leaf.NotAfter.UTC().Format(time.DateOnly)}
			}
		}
		return now, &certError{"cert_untrusted", "issued by " + issuer(leaf)}
	}
	if err := leaf.VerifyHostname(name); err != nil {
		return now, &certError{"cert_hostname", "asked for " + name + ", shown " + names(leaf)}
	}
	return shortestLife(found), nil
}

// whenValid is a moment at which all that was shown was valid, if now is not one.
func whenValid(certs []*x509.Certificate, now time.Time) (time.Time, bool) {
	from, to := certs[0].NotBefore, certs[0].NotAfter
	for _, c := range certs {
		if c.NotBefore.After(from) {
			from = c.NotBefore
		}
		if c.NotAfter.Before(to) {
			to = c.NotAfter
		}
	}
	inside := !now.Before(from) && !now.After(to)
	if inside || to.Before(from) {
		return now, false
	}
	if now.After(to) {
		return to, true
	}
	return from, true
}

// shortestLife is when the longest-lived of the chains found ends.
func shortestLife(found [][]*x509.Certificate) time.Time {
	var best time.Time
	for _, chain := range found {
		end := chain[0].NotAfter
		for _, c := range chain {
			if c.NotAfter.Before(end) {
				end = c.NotAfter
			}
		}
		if end.After(best) {
			best = end
		}
	}
	return best
}

func issuer(c *x509.Certificate) string {
	if n := c.Issuer.CommonName; n != "" {
		return n
	}
	return c.Issuer.String()
}

func names(c *x509.Certificate) string {
	switch {
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	case len(c.IPAddresses) > 0:
		return c.IPAddresses[0].String()
	}
	return c.Subject.CommonName
}
