package zoo

import (
	"net"
	"strings"
	"time"
)

// deaf takes the connection and reads nothing.
func deaf(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetReadBuffer(4096)
	}
	time.Sleep(1500 * time.Millisecond)
}

// muchAsked is a request that no buffer on the way takes in whole.
func muchAsked(b *Behaviour) { b.Asks.Method, b.Asks.Sends = "POST", strings.Repeat("x", 24<<20) }

// Ours are faults on our side of the peers: the way breaks, or we stop the probe ourselves;
// and requests that do not get through.
func Ours() []Behaviour {
	login, granted := Dialogue(Silent, "\x05\x02"), Dialogue(deaf, hello5, grant5)
	list := append(family("the way breaks", connects, []row{
		{"in the proxy's handshake", Dialogue(HangUp, ""), "https", "proxy_tls unreachable proxy"},
		{"after CONNECT", Listen, "http", "tunnel unreachable proxy"},
		{"in the login", Dialogue(Listen, "\x05\x02"), "socks5h://a:b@", "proxy_auth unreachable proxy"},
		{"in the target's handshake", GrantThen(true, HangUp), "http", "target_tls unreachable proxy"},
	}, cut), family("the way breaks", plain, []row{
		{"before the answer", Listen, "http", "headers unreachable proxy"},
		{"in the body", ok("Content-Length: 9\r\n", "cat"), "http", "body unreachable proxy"},
	}, cut)...)
	list = append(list, family("cancelled", connects, []row{
		{"in the proxy's handshake", Silent, "https", "proxy_tls local_error local"},
		{"after CONNECT", Silent, "http", "tunnel local_error local"},
		{"in the login", login, "socks5h://a:b@", "proxy_auth local_error local"},
		{"in the target's handshake", GrantThen(true, Silent), "http", "target_tls local_error local"},
	}, cancel)...)
	list = append(list, family("cancelled", plain, []row{
		{"while a name is looked up", nil, "http://mute.test:9", "resolve local_error local"},
		{"while it connects", nil, "http://FULL", "connect local_error local"},
		{"before the answer", Silent, "http", "headers local_error local"},
		{"in the body", SayAndHang("HTTP/1.1 200 OK\r\n\r\nx"), "http", "body local_error local"},
	}, cancel)...)
	list = append(list, family("cancelled", plain, []row{
		{"while it sends", granted, "socks5h", "request local_error local"},
	}, cancel, muchAsked)...)
	list = append(list, family("requests that do not get through", plain, []row{
		{"nobody reads", granted, "socks5h", "request timeout unknown"},
	}, slow, muchAsked)...)
	return append(list, family("requests that do not get through", plain, []row{
		{"reset in the middle", Dialogue(func(c net.Conn) { time.Sleep(50 * time.Millisecond); Reset(c) }, hello5, grant5), "socks5h", "request reset target"},
	}, muchAsked)...)
}
