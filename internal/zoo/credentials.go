package zoo

// Credentials are the ways in which HTTP proxies refuse a login.
func Credentials() []Behaviour {
	return family("credentials", connects, []row{
		{"407 without credentials", status("407 Proxy Authentication Required", `Proxy-Authenticate: Basic realm="x"`), "http", "proxy_auth auth_required credentials"},
		{"407 without the blank line, and a close", Say("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"), "http", "proxy_auth auth_required credentials"},
		{"407 with chunks that break off", Say("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\nTransfer-Encoding: chunked\r\n\r\nzz"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"407 whose challenge is empty", status("407 x", "Proxy-Authenticate:"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"407 that wants a token", status("407 x", "Proxy-Authenticate: Bearer realm=\"x\""), "http://a:b@", "proxy_auth auth_scheme_unsupported credentials"},
		{"407 with two lengths", Say("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nno"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"407 that only asks to pay", page("407 x", "Proxy-Authenticate: Basic\r\n", "Your plan is used up"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"407 with credentials", status("407 Proxy Authentication Required", `Proxy-Authenticate: Basic realm="x"`), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"407 that offers nothing", status("407 No"), "http", "proxy_auth auth_required credentials"},
		{"407 and a close without a length", Say("HTTP/1.0 407 Unauthorized\r\nProxy-Authenticate: Basic\r\n\r\nno"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"only NTLM and Negotiate", status("407 x", "Proxy-Authenticate: NTLM", "Proxy-Authenticate: Negotiate"), "http://a:b@", "proxy_auth auth_scheme_unsupported credentials"},
		{"only Digest", status("407 x", `Proxy-Authenticate: Digest realm="basic, x", nonce="Basic"`), "http://a:b@", "proxy_auth auth_scheme_unsupported credentials"},
		{"only Kerberos and no credentials", status("407 x", "Proxy-Authenticate: Negotiate"), "http", "proxy_auth auth_scheme_unsupported credentials"},
		{"Digest and Basic in one field", status("407 x", `Proxy-Authenticate: Digest realm="x", nonce="y", BASIC realm="z"`), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"401 instead of 407", status("401 Unauthorized"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"401 without credentials", status("401 Unauthorized", `WWW-Authenticate: Basic realm="x"`), "http", "proxy_auth auth_required credentials"},
		{"403 with a challenge", status("403 Forbidden", `Proxy-Authenticate: Basic realm="x"`), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"403 whose page speaks of the login", page("403 Forbidden", "", "Authentication failed: invalid username or password"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"511 of a network that wants a login", status("511 Network Authentication Required"), "http", "proxy_auth auth_required credentials"},
		{"400 whose page speaks of the login", page("400 Bad Request", "", "Incorrect username or password"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"seller: wrong zone password", status("407 x", "X-Brd-Error: Auth failed: wrong password"), "http://a:b@", "proxy_auth auth_rejected credentials"},
	})
}
