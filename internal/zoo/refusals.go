package zoo

// Refusals are statuses with which proxies refuse a tunnel and say no more than that.
func Refusals() []Behaviour {
	return family("refusals", connects, []row{
		{"403", status("403 Forbidden"), "http", "tunnel forbidden proxy"},
		{"403 with credentials", status("403 Forbidden"), "http://a:b@", "tunnel forbidden proxy"},
		{"403 Filtered", status("403 Filtered"), "http", "tunnel forbidden proxy"},
		{"402", status("402 Payment Required"), "http", "tunnel forbidden proxy"},
		{"451", status("451 Unavailable For Legal Reasons"), "http", "tunnel forbidden proxy"},
		{"quota used up", page("502 Bad Gateway", "", "Your traffic limit is used up"), "http", "tunnel forbidden proxy"},
		{"a seller's own status: bandwidth used up", page("452 Bandwidth Exceeded", "", "exceeded bandwidth limit"), "http", "tunnel forbidden proxy"},
		{"a seller's own status: too many at once", page("453 Thread Limit Exceeded", "", "exceeded threads limit"), "http", "tunnel rate_limited proxy"},
		{"a seller's own status: no such country", page("454 x", "", "invalid country code"), "http", "tunnel forbidden proxy"},
		{"400 of an ordinary web server", status("400 Bad Request"), "http", "tunnel method_unsupported proxy"},
		{"404 of an ordinary web server", status("404 Not Found"), "http", "tunnel method_unsupported proxy"},
		{"405", status("405 Method Not Allowed", "Allow: GET, HEAD"), "http", "tunnel method_unsupported proxy"},
		{"501", status("501 Not Implemented"), "http", "tunnel method_unsupported proxy"},
		{"505", status("505 HTTP Version Not Supported"), "http", "tunnel method_unsupported proxy"},
		{"418", status("418 I'm a teapot"), "http", "tunnel method_unsupported proxy"},
		{"502 and nothing more", status("502 Bad Gateway"), "http", "tunnel upstream_error target"},
		{"504", status("504 Gateway Timeout"), "http", "tunnel upstream_timeout target"},
		{"503 and nothing more", status("503 Service Unavailable"), "http", "tunnel upstream_error unknown"},
		{"500 and nothing more", status("500 Internal Server Error"), "http", "tunnel upstream_error unknown"},
		{"522", status("522 "), "http", "tunnel upstream_timeout target"},
		{"421 of an ordinary web server", status("421 Misdirected Request"), "http", "tunnel method_unsupported proxy"},
		{"426 that wants another protocol", status("426 Upgrade Required", "Upgrade: h2c"), "http", "tunnel method_unsupported proxy"},
		{"431", status("431 Request Header Fields Too Large"), "http", "tunnel method_unsupported proxy"},
		{"400 of a content network", page("400 Bad Request", "Server: cloudflare\r\nCF-RAY: -\r\n", "<center>cloudflare</center>"), "http", "tunnel method_unsupported proxy"},
		{"503 with Retry-After", status("503 Service Unavailable", "Retry-After: 30"), "http", "tunnel upstream_error unknown"},
		{"599", status("599 Network Connect Timeout Error"), "http", "tunnel upstream_timeout target"},
		{"999, and no reason", status("999 "), "http", "tunnel upstream_error unknown"},
		{"429", status("429 Too Many Requests", "Retry-After: 120"), "http", "tunnel rate_limited proxy"},
		{"too many connections", page("503 Service Unavailable", "", "Too many connections"), "http", "tunnel rate_limited proxy"},
		{"captive portal", status("302 Found", "Location: http://login.hotspot.example/?u=target.test"), "http", "tunnel redirected proxy"},
		{"captive portal without a place", status("307 Temporary Redirect"), "http", "tunnel redirected proxy"},
	})
}
