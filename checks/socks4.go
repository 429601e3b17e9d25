package checks

import (
	"encoding/hex"

	"proxyward/checks/verdict"
)

// SOCKS4's replies (the protocol's memo, "CONNECT").
const (
	socks4Granted  = 90
	socks4Failed   = 91 // one word for every failure
	socks4NoIdent  = 92
	socks4BadIdent = 93
)

// socks4 asks a SOCKS4 or SOCKS4a proxy for a way to the target. 4a passes the name on
// behind the impossible address 0.0.0.1.
func (p *probe) socks4() *failure {
	p.enter(verdict.Tunnel, p.step.timeouts.Handshake)
	o := p.req.origin
	b := append(p.out[:0], 4, 1, byte(o.port>>8), byte(o.port))
	if p.targetAddr.IsValid() {
		b = append(b, p.targetAddr.AsSlice()...)
	} else {
		b = append(b, 0, 0, 0, 1)
	}
	b = append(append(b, p.ep.User...), 0)
	if !p.targetAddr.IsValid() {
		b = append(append(b, o.host...), 0)
	}
	if fail := p.socksSend(b); fail != nil {
		return fail
	}
	var r [8]byte
	if fail := p.socksRead(r[:1], ending{}); fail != nil {
		return fail
	}
	if r[0] != 0 && r[0] != 4 { // some servers repeat the 4
		return p.wrongProtocol(p.more(r[:1]))
	}
	if fail := p.socksRead(r[1:2], ending{}); fail != nil {
		return fail
	}
	switch r[1] {
	case socks4Granted:
		p.through = true
		return p.socksRead(r[2:], ending{})
	case socks4Failed:
		return p.fail("upstream_error", "SOCKS4 reply 91")
	case socks4NoIdent, socks4BadIdent:
		return p.failAt(verdict.ProxyAuth, pick(p.ep.User == "", "auth_required", "auth_rejected"), "SOCKS4 reply "+hex.EncodeToString(r[1:2]))
	}
	return p.fail("malformed", p.quote(r[:2]))
}
