package zoo

// SOCKSCodes are what SOCKS proxies have to say about a target they did not reach.
func SOCKSCodes() []Behaviour {
	return family("SOCKS codes", plain, []row{
		{"SOCKS5 reply 1", socks5Says("\x01"), "socks5h", "tunnel upstream_error proxy"},
		{"SOCKS5 reply 2", socks5Says("\x02"), "socks5h", "tunnel forbidden proxy"},
		{"SOCKS5 reply 3", socks5Says("\x03"), "socks5h", "tunnel upstream_unreachable proxy"},
		{"SOCKS5 reply 4", socks5Says("\x04"), "socks5h", "tunnel upstream_unreachable target"},
		{"SOCKS5 reply 5", socks5Says("\x05"), "socks5h", "tunnel upstream_refused target"},
		{"SOCKS5 reply 6", socks5Says("\x06"), "socks5h", "tunnel upstream_timeout target"},
		{"SOCKS5 reply 7", socks5Says("\x07"), "socks5h", "tunnel method_unsupported proxy"},
		{"SOCKS5 reply 8", socks5Says("\x08"), "socks5h", "tunnel address_unsupported proxy"},
		{"SOCKS5 reply 9", socks5Says("\x09"), "socks5h", "tunnel upstream_error unknown"},
		{"SOCKS5 reply 255", socks5Says("\xff"), "socks5h", "tunnel upstream_error unknown"},
		{"refusal of two bytes and a close", Dialogue(nil, hello5, "\x05\x05"), "socks5h", "tunnel upstream_refused target"},
		{"SOCKS4 says 91", Dialogue(nil, "\x00\x5b"+bound4), "socks4a", "tunnel upstream_error target"},
		{"SOCKS4 says 92", Dialogue(nil, "\x00\x5c"+bound4), "socks4a", "proxy_auth auth_required credentials"},
		{"SOCKS4 says 93", Dialogue(nil, "\x00\x5d"+bound4), "socks4a://ann@", "proxy_auth auth_rejected credentials"},
		{"SOCKS4 says nothing known", Dialogue(nil, "\x00\x01"+bound4), "socks4a", "tunnel malformed proxy"},
		{"SOCKS4 refusal of two bytes", Dialogue(nil, "\x00\x5b"), "socks4a", "tunnel upstream_error target"},
	})
}
