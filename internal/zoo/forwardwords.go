package zoo

// ForwardWords are error answers: behind a forward proxy some have the marks of the proxy, out
// of a tunnel all are the target's.
func ForwardWords() []Behaviour {
	return answers("error answers", []answer{
		{"407", status("407 x", "Proxy-Authenticate: Basic"), "proxy_auth auth_required credentials", "verify http_status target"},
		{"407 with Negotiate", status("407 x", "Proxy-Authenticate: Negotiate"), "proxy_auth auth_scheme_unsupported credentials", "verify http_status target"},
		{"511", status("511 Network Authentication Required"), "proxy_auth auth_required credentials", "verify http_status target"},
		{"captive portal", status("302 Found", "Location: http://10.1.0.1/login?orig=http://target.test/"), "tunnel redirected proxy", "verify redirected target"},
		{"squid: refused", status("503 x", "Server: squid/5.7", "X-Squid-Error: ERR_CONNECT_FAIL 111"), "tunnel upstream_refused target", "verify http_status target"},
		{"squid: denied", status("403 x", "Server: squid/5.7", "X-Squid-Error: ERR_ACCESS_DENIED 0"), "tunnel forbidden proxy", "verify http_status target"},
		{"squid: no answer of the target", status("504 x", "X-Squid-Error: ERR_READ_TIMEOUT 0"), "tunnel upstream_timeout target", "verify http_status target"},
		{"RFC 9209", status("502 x", "Proxy-Status: p; error=dns_timeout"), "tunnel upstream_dns target", "verify http_status target"},
		{"tinyproxy: cannot connect", status("500 Unable to connect", "Server: tinyproxy/1.11"), "tunnel upstream_error target", "verify http_status target"},
		{"privoxy: no such domain", Say("HTTP/1.1 404 No such domain\r\n\r\n404 - No such domain (Privoxy@localhost)"), "tunnel upstream_dns target", "verify http_status target"},
		{"a proxy that has only CONNECT", status("405 Method Not Allowed", "Proxy-Agent: x"), "tunnel method_unsupported proxy", "verify http_status target"},
		{"bare 405 to GET", status("405 Method Not Allowed"), "tunnel method_unsupported proxy", "verify http_status target"},
		{"bare 501 to GET", status("501 Not Implemented"), "tunnel method_unsupported proxy", "verify http_status target"},
		{"a proxy's own 429", status("429 x", "Server: GoProxy", "Retry-After: 9"), "tunnel rate_limited proxy", "verify rate_limited target"},
		{"a proxy's own 502", status("502 Bad Gateway", "Server: mitmproxy 10.1"), "tunnel upstream_error target", "verify http_status target"},
		{"plain request to the HTTPS port", Say("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"), "tunnel protocol_mismatch proxy", "verify http_status target"},
		{"interim answers in a flood", Flood("", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n", 0), "headers timeout target", "headers timeout target"},
		{"404", status("404 Not Found", "Server: nginx"), "verify http_status target", "verify http_status target"},
		{"403", status("403 Forbidden", "Server: nginx"), "verify http_status target", "verify http_status target"},
		{"401", status("401 Unauthorized", "WWW-Authenticate: Basic"), "verify http_status target", "verify http_status target"},
		{"401 without a challenge", status("401 Unauthorized"), "verify http_status unknown", "verify http_status target"},
		{"500", status("500 Internal Server Error"), "verify http_status target", "verify http_status target"},
		{"502 that anybody may have said", status("502 Bad Gateway"), "verify http_status unknown", "verify http_status target"},
		{"502 of a service that stands before the target", status("502 Bad Gateway", "Server: cloudflare", "CF-RAY: 1"), "verify http_status target", "verify http_status target"},
		{"503 with Retry-After", status("503 Service Unavailable", "Retry-After: 60"), "verify http_status target", "verify http_status target"},
		{"429", status("429 Too Many Requests", "Retry-After: 60"), "verify rate_limited target", "verify rate_limited target"},
		{"302 to the same site", status("302 Found", "Location: https://www.target.test/"), "verify redirected target", "verify redirected target"},
		{"302 to another site", status("302 Found", "Location: https://elsewhere.example/welcome"), "verify redirected unknown", "verify redirected target"},
		{"408 of somebody who waited", status("408 Request Timeout"), "verify http_status target", "verify http_status target"},
		{"407 without the blank line, and a close", Say("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\n"), "proxy_auth auth_required credentials", "headers eof target"},
		{"403 of squid for the client", page("403 Forbidden", "Server: squid/5.7\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\n", "Access Denied."), "tunnel forbidden proxy", "verify http_status target"},
		{"404 of an ordinary web server", status("404 Not Found", "Server: nginx"), "verify http_status target", "verify http_status target"},
		{"503 of a balancer", page("503 Service Unavailable", "", "<h1>503 Service Unavailable</h1>\nNo server is available to handle this request."), "verify http_status target", "verify http_status target"},
		{"a proxy whose plan is used up", page("402 Payment Required", "Proxy-Agent: x\r\n", "no traffic left"), "tunnel forbidden proxy", "verify http_status target"},
		{"bare 400", status("400 Bad Request"), "verify http_status unknown", "verify http_status target"},
	})
}
