package zoo

import "strings"

const data = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" // what a target says

// The bytes of good replies: a method, a bound address, both; SOCKS4's ports and address.
const (
	hello5 = "\x05\x00"
	bound5 = "\x00\x01\x7f\x00\x00\x01\x00\x50"
	grant5 = "\x05\x00" + bound5
	bound4 = "\x00\x50\x7f\x00\x00\x01"
)

// socks5Says refuses CONNECT with a code.
func socks5Says(code string) Handler { return Dialogue(nil, hello5, "\x05"+code+bound5) }

// SOCKSFraming are SOCKS messages that break off, are of another version, or bring data along.
func SOCKSFraming() []Behaviour {
	return family("SOCKS framing", plain, []row{
		{"HTTP behind socks5", Say("HTTP/1.1 400 Bad Request\r\n\r\n"), "socks5h", "tunnel protocol_mismatch proxy"},
		{"HTTP behind socks4", Say("HTTP/1.1 400 Bad Request\r\n\r\n"), "socks4a", "tunnel protocol_mismatch proxy"},
		{"SOCKS4 answers a SOCKS5 client", Dialogue(nil, "\x00\x5b\x00\x00\x00\x00\x00\x00"), "socks5h", "tunnel protocol_mismatch proxy"},
		{"SOCKS5 answers a SOCKS4 client", Dialogue(nil, "\x05\xff"), "socks4a", "tunnel protocol_mismatch proxy"},
		{"TLS behind socks5", Dialogue(nil, "\x15\x03\x01\x00\x02\x02\x46"), "socks5h", "tunnel protocol_mismatch proxy"},
		{"one byte of another protocol", Dialogue(Silent, "S"), "socks5h", "tunnel protocol_mismatch proxy"},
		{"another version in the second reply", Dialogue(nil, hello5, "\x04\x00"+bound5), "socks5h", "tunnel protocol_mismatch proxy"},
		{"an address type that is none", Dialogue(nil, hello5, "\x05\x00\x00\x09aaaaaaaa"), "socks5h", "tunnel malformed proxy"},
		{"close after the greeting", Listen, "socks5h", "tunnel eof proxy"},
		{"close after the request", Dialogue(Listen, hello5), "socks5h", "tunnel eof unknown"},
		{"reset after the greeting", SayAndReset(""), "socks5h", "tunnel reset proxy"},
		{"reset in the reply", Dialogue(SayAndReset("\x05\x00\x00"), hello5), "socks5h", "tunnel reset proxy"},
		{"a refusal of three bytes, and silence", Dialogue(Silent, hello5, "\x05\x05\x00"), "socks5h", "tunnel upstream_refused target"},
		{"a reserved byte that is not 0", Dialogue(nil, hello5, "\x05\x00\x07\x01\x7f\x00\x00\x01\x00\x50"+data), "socks5h", "pass"},
		{"both replies in one packet", Dialogue(nil, hello5+grant5, data), "socks5h", "pass"},
		{"a bound name of 255 bytes", Dialogue(nil, hello5, "\x05\x00\x00\x03\xff"+strings.Repeat("x", 255)+"\x00\x50"+data), "socks5h", "pass"},
		{"version 0 in the reply", Dialogue(nil, hello5, "\x00\x5a"+bound4), "socks5h", "tunnel protocol_mismatch proxy"},
		{"HTTP after a good greeting", Dialogue(nil, hello5, "HTTP/1.1 400 Bad Request\r\n\r\n"), "socks5h", "tunnel protocol_mismatch proxy"},
		{"SOCKS4 closes on the request", Listen, "socks4a", "tunnel eof proxy"},
		{"SOCKS4 refuses with version 4", Dialogue(nil, "\x04\x5b"+bound4), "socks4a", "tunnel upstream_error target"},
		{"close in the bound address", Dialogue(nil, hello5, "\x05\x00\x00\x01\x7f"), "socks5h", "tunnel eof proxy"},
		{"SOCKS4 close in the reply", Dialogue(nil, "\x00\x5a\x00"), "socks4a", "tunnel eof proxy"},
		{"SOCKS5", Dialogue(nil, hello5, grant5+data), "socks5h", "pass"},
		{"SOCKS4", Dialogue(nil, "\x00\x5a"+bound4+data), "socks4a", "pass"},
		{"SOCKS4 with its version repeated", Dialogue(nil, "\x04\x5a"+bound4+data), "socks4a", "pass"},
		{"RFC 1929 with the 5 repeated", Dialogue(nil, "\x05\x02", "\x05\x00", grant5+data), "socks5h://a:b@", "pass"},
	})
}
