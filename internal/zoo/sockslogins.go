package zoo

// SOCKSLogins are the ways in which SOCKS proxies deal with logins.
func SOCKSLogins() []Behaviour {
	return family("SOCKS logins", plain, []row{
		{"0xFF to no login", Dialogue(nil, "\x05\xff"), "socks5h", "proxy_auth auth_required credentials"},
		{"0xFF to a login", Dialogue(nil, "\x05\xff"), "socks5h://a:b@", "proxy_auth auth_scheme_unsupported credentials"},
		{"GSSAPI, which was not offered", Dialogue(nil, "\x05\x01"), "socks5h", "tunnel malformed proxy"},
		{"a login that was not offered", Dialogue(nil, "\x05\x02"), "socks5h", "tunnel malformed proxy"},
		{"login refused with 1", Dialogue(nil, "\x05\x02", "\x01\x01"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login refused with 2", Dialogue(nil, "\x05\x02", "\x01\x02"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login refused with 255", Dialogue(nil, "\x05\x02", "\x01\xff"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login answered by a close", Dialogue(Listen, "\x05\x02"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login answered by a reset", Dialogue(SayAndReset(""), "\x05\x02"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"login accepted, then refused by rule", Dialogue(nil, "\x05\x02", "\x01\x00", "\x05\x02"+bound5), "socks5h://a:b@", "tunnel forbidden proxy"},
		{"login accepted, then closed", Dialogue(Listen, "\x05\x02", "\x01\x00"), "socks5h://a:b@", "tunnel eof unknown"},
		{"login of one byte, and a close", Dialogue(nil, "\x05\x02", "\x01"), "socks5h://a:b@", "proxy_auth auth_rejected credentials"},
		{"no login wanted from who has one", Dialogue(nil, "\x05\x00", grant5+data), "socks5h://a:b@", "pass"},
		{"an empty user", Dialogue(nil, "\x05\x02", "\x01\x01"), "socks5h://:b@", "proxy_auth auth_rejected credentials"},
		{"refused with 0xFF after a login was offered, and silence", Dialogue(Silent, "\x05\xff"), "socks5h://a:b@", "proxy_auth auth_scheme_unsupported credentials"},
		{"login answered by something else", Dialogue(nil, "\x05\x02", "HT"), "socks5h://a:b@", "proxy_auth malformed proxy"},
	})
}
