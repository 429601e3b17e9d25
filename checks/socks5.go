package checks

import (
	"encoding/hex"
	"io"
	"net/netip"
	"time"

	"proxyward/checks/verdict"
)

// The methods of RFC 1928 section 3 that a probe speaks.
const (
	methodNone  = 0
	methodLogin = 2 // RFC 1929
	methodRefus = 0xff
)

// socksReplies maps RFC 1928 section 6's reply codes to events. 3 and 1 are the proxy's own
// trouble, 4 to 6 are what the target's network said.
var socksReplies = [...]string{1: "proxy_failure", 2: "forbidden", 3: "proxy_network", 4: "upstream_unreachable", 5: "upstream_refused",
	6: "upstream_timeout", 7: "method_unsupported", 8: "address_unsupported"}

// socks5 asks a SOCKS5 proxy for a way to the target (RFC 1928, RFC 1929).
func (p *probe) socks5() *failure {
	p.enter(verdict.Tunnel, p.step.timeouts.Handshake)
	method, fail := p.socksMethod()
	if fail != nil {
		return fail
	}
	if method == methodLogin {
		if fail := p.socksLogin(); fail != nil {
			return fail
		}
		p.enter(verdict.Tunnel, p.step.timeouts.Handshake)
	}
	if fail := p.socksSend(p.socksRequest(p.out[:0])); fail != nil {
		return fail
	}
	if fail := p.socksReply(); fail != nil {
		return fail
	}
	p.through = true
	return nil
}

func (p *probe) socksMethod() (byte, *failure) {
	hello := append(p.out[:0], 5, 1, methodNone)
	if p.ep.HasCredentials() {
		hello = append(p.out[:0], 5, 2, methodNone, methodLogin)
	}
	if fail := p.socksSend(hello); fail != nil {
		return 0, fail
	}
	var r [2]byte
	if fail := p.socksRead(r[:1], ending{}); fail != nil {
		return 0, fail
	}
	if r[0] != 5 {
		return 0, p.wrongProtocol(p.more(r[:1]))
	}
	if fail := p.socksRead(r[1:], ending{}); fail != nil {
		return 0, fail
	}
	switch {
	case r[1] == methodNone, r[1] == methodLogin && p.ep.HasCredentials():
		return r[1], nil
	case r[1] == methodRefus && p.ep.HasCredentials():
		return 0, p.failAt(verdict.ProxyAuth, "auth_scheme_unsupported", "it accepts neither no login nor user and password")
	case r[1] == methodRefus:
		return 0, p.failAt(verdict.ProxyAuth, "auth_required", "")
	}
	return 0, p.fail("malformed", "it chose login method "+hex.EncodeToString(r[1:])+", which was not offered")
}

// more reads what else comes at once, to show it: the first byte is of another protocol.
func (p *probe) more(first []byte) []byte {
	p.until(time.Now(), 50*time.Millisecond)
	var b [64]byte
	n := copy(b[:], first)
	if k, err := p.conn.Read(b[n:]); err == nil {
		n += k
	}
	return b[:n]
}

// socksLogin is RFC 1929 section 2. Zero alone is success, and a proxy may just close.
func (p *probe) socksLogin() *failure {
	p.enter(verdict.ProxyAuth, p.step.timeouts.Handshake)
	user, password := p.ep.User, p.ep.Password()
	if len(user) > 255 || len(password) > 255 {
		return p.failAt(verdict.Resolve, "bad_endpoint", "user or password over 255 bytes")
	}
	b := append(p.out[:0], 1, byte(len(user)))
	b = append(append(append(b, user...), byte(len(password))), password...)
	p.trace("sent", "login "+user+" "+masked)
	p.out = b
	if _, err := p.conn.Write(b); err != nil {
		return p.broken(err, ending{reset: "auth_closed", eof: "auth_closed"})
	}
	var r [2]byte
	if fail := p.socksRead(r[:], ending{reset: "auth_closed", eof: "auth_closed"}); fail != nil {
		return fail
	}
	switch {
	case r[0] != 1 && r[0] != 5: // some servers repeat the 5
		return p.fail("malformed", p.quote(r[:]))
	case r[1] != 0:
		return p.fail("auth_rejected", "")
	}
	return nil
}

// socksRequest appends CONNECT with the target's address: a name is passed on only by
// socks5h; socks5 has resolved it.
func (p *probe) socksRequest(b []byte) []byte {
	o := p.req.origin
	b = append(b, 5, 1, 0)
	switch a := p.targetAddr; {
	case a.Is4():
		b = append(append(b, 1), a.AsSlice()...)
	case a.Is6():
		b = append(append(b, 4), a.AsSlice()...)
	default:
		b = append(append(b, 3, byte(len(o.host))), o.host...)
	}
	return append(b, byte(o.port>>8), byte(o.port))
}

// socksReply reads the reply to CONNECT. A refusal is known after two bytes: some servers
// send no more.
func (p *probe) socksReply() *failure {
	var r [4]byte
	// Who has spoken SOCKS so far and closes now may mean the target (ssh -D has no
	// other word for it) or itself.
	if fail := p.socksRead(r[:1], ending{eof: "closed_on_request"}); fail != nil {
		return fail
	}
	if r[0] != 5 {
		return p.wrongProtocol(p.more(r[:1]))
	}
	if fail := p.socksRead(r[1:2], ending{}); fail != nil {
		return fail
	}
	if code := r[1]; code != 0 {
		event := "refusal"
		if int(code) < len(socksReplies) {
			event = socksReplies[code]
		}
		return p.fail(event, "SOCKS5 reply "+hex.EncodeToString(r[1:2]))
	}
	if fail := p.socksRead(r[2:], ending{}); fail != nil {
		return fail
	}
	return p.socksBound(r[3])
}

// socksBound reads past the bound address: nothing of it may be left for the target's ears.
func (p *probe) socksBound(kind byte) *failure {
	var b [257]byte
	n := 0
	switch kind {
	case 1:
		n = 4
	case 4:
		n = 16
	case 3:
		if fail := p.socksRead(b[:1], ending{}); fail != nil {
			return fail
		}
		n = int(b[0])
	default:
		return p.fail("malformed", "its reply has address type "+hex.EncodeToString([]byte{kind}))
	}
	return p.socksRead(b[:n+2], ending{})
}

func (p *probe) socksSend(b []byte) *failure {
	p.out = b
	p.traceBytes("sent", b)
	if _, err := p.conn.Write(b); err != nil {
		return p.broken(err, ending{})
	}
	return nil
}

// socksRead reads exactly len(b) bytes: replies come in pieces, and what follows them
// belongs to the tunnel.
func (p *probe) socksRead(b []byte, names ending) *failure {
	n, err := io.ReadFull(p.conn, b)
	if n > 0 {
		p.traceBytes("got", b[:n])
	}
	if err != nil {
		return p.broken(err, names)
	}
	return nil
}

func (p *probe) traceBytes(kind string, b []byte) {
	if p.opts.Trace != nil {
		p.trace(kind, "bytes "+hex.EncodeToString(b))
	}
}

// resolveTarget finds the target's address where the scheme wants it resolved here; after
// it targetAddr is invalid where the name is for the proxy to resolve.
func (p *probe) resolveTarget() *failure {
	p.targetAddr = netip.Addr{}
	if a, err := netip.ParseAddr(p.req.origin.host); err == nil {
		p.targetAddr = a
	}
	s := p.ep.Scheme
	if !p.targetAddr.IsValid() && (s == "socks4" || s == "socks5") {
		p.enter(verdict.Resolve, p.step.timeouts.Connect)
		network := pick(s == "socks4", "ip4", "ip")
		addrs, fail := p.lookup(network, p.req.origin.host, "target_name_not_found")
		if fail != nil {
			return fail
		}
		p.targetAddr = addrs[0].Unmap()
	}
	if p.targetAddr.Is6() && (s == "socks4" || s == "socks4a") {
		return p.failAt(verdict.Tunnel, "address_unsupported", "SOCKS4 has no IPv6")
	}
	return nil
}
