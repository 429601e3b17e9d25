package zoo

import (
	"strings"
)

// Drips are peers that fall silent, or speak a byte now and then, in each stage.
func Drips() []Behaviour {
	list := family("drips", connects, []row{
		{"CONNECT: silent after CONNECT", Silent, "http", "tunnel timeout proxy"},
		{"CONNECT: silent in the reply", SayAndHang("HTTP/1.1 200 OK\r\n"), "http", "tunnel timeout proxy"},
		{"CONNECT: a byte now and then", Drip("HTTP/1.1 200 Connection established\r\nX: "+strings.Repeat("x", 300)+"\r\n\r\n", pace), "http", "tunnel timeout proxy"},
		{"CONNECT: 407 whose page never ends", SayAndHang("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\nContent-Length: 9000\r\n\r\n"), "http", "proxy_auth auth_required credentials"},
		{"CONNECT: 403 whose page drips", Flood("HTTP/1.1 403 x\r\n\r\n", "x", pace), "http", "tunnel forbidden proxy"},
		{"TLS to the proxy: silent", Silent, "https", "proxy_tls timeout proxy"},
		{"TLS to the proxy: a byte now and then", Drip("\x16\x03\x03\x10\x00"+strings.Repeat("\x02", 100), pace), "https", "proxy_tls timeout proxy"},
		{"TLS to the target: silent", GrantThen(true, Silent), "http", "target_tls timeout unknown"},
		{"TLS to the target: a byte now and then", GrantThen(false, Drip("\x16\x03\x03\x10\x00"+strings.Repeat("\x02", 100), pace)), "http", "target_tls timeout proxy"},
	}, slow)
	list = append(list, family("drips", plain, []row{
		{"SOCKS: silent to the greeting", Silent, "socks5h", "tunnel timeout proxy"},
		{"SOCKS: silent to the login", Dialogue(Silent, "\x05\x02"), "socks5h://a:b@", "proxy_auth timeout proxy"},
		{"SOCKS: silent to the request", Dialogue(Silent, hello5), "socks5h", "tunnel timeout proxy"},
		{"SOCKS: SOCKS4 silent", Silent, "socks4a", "tunnel timeout proxy"},
		{"SOCKS: SOCKS5 a byte now and then", Slowly(40*pace, hello5, grant5), "socks5h", "tunnel timeout proxy"},
		{"SOCKS: SOCKS4 a byte now and then", Slowly(30*pace, "\x00\x5a"+bound4), "socks4a", "tunnel timeout proxy"},
		{"SOCKS: login a byte now and then", Dialogue(Slowly(60*pace, "\x01\x00"), "\x05\x02"), "socks5h://a:b@", "proxy_auth timeout proxy"},
	}, slow)...)
	return append(list, answers("drips", []answer{
		{"silent", Silent, "headers timeout unknown", "headers timeout target"},
		{"interim answers and nothing more", Flood("", "HTTP/1.1 103 Early Hints\r\n\r\n", pace), "headers timeout target", "headers timeout target"},
		{"100 and then silence", SayAndHang("HTTP/1.1 100 Continue\r\n\r\n"), "headers timeout target", "headers timeout target"},
		{"head a byte now and then", Drip("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 300)+"\r\n\r\n", pace), "headers timeout proxy", "headers timeout proxy"},
		{"body a byte now and then", Flood("HTTP/1.1 200 OK\r\n\r\n", "x", pace), "body timeout proxy", "body timeout proxy"},
		{"body without a length that stops", SayAndHang("HTTP/1.1 200 OK\r\n\r\nthe whole page"), "body timeout unknown", "body timeout unknown"},
		{"body that stops", SayAndHang("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncat"), "body timeout proxy", "body timeout proxy"},
	}, slow)...)
}
