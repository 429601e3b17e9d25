package zoo

// Products are the error pages and headers of proxies other than squid.
func Products() []Behaviour {
	return family("products", connects, []row{
		{"tinyproxy: cannot connect", page("500 Unable to connect", "Server: tinyproxy/1.11.1\r\n", "<p>Unable to connect</p>"), "http", "tunnel upstream_error target"},
		{"tinyproxy: port not allowed", status("403 Access violation", "Server: tinyproxy/1.11.1"), "http", "tunnel forbidden proxy"},
		{"privoxy: no such domain", status("404 No such domain"), "http", "tunnel upstream_dns target"},
		{"privoxy: connect failed", page("503 Connect failed", "", "503 - Connect failed (Privoxy@localhost)"), "http", "tunnel upstream_error target"},
		{"privoxy: blocked", status("403 Request blocked by Privoxy"), "http", "tunnel forbidden proxy"},
		{"3proxy: host not found or connection failed", page("502 Bad Gateway", "", "<h2>502 Bad Gateway</h2><h3>Host Not Found or connection failed</h3>"), "http", "tunnel upstream_dns target"},
		{"goproxy: dial error", page("502 Bad Gateway", "", "dial tcp 192.0.2.1:443: connect: connection refused"), "http", "tunnel upstream_refused target"},
		{"goproxy: no such host", page("502 Bad Gateway", "", "dial tcp: lookup nx.example: no such host"), "http", "tunnel upstream_dns target"},
		{"goproxy: timeout", page("500 Internal Server Error", "", "dial tcp 192.0.2.1:443: i/o timeout"), "http", "tunnel upstream_timeout target"},
		{"envoy: upstream", page("503 Service Unavailable", "Server: envoy\r\n", "upstream connect error or disconnect/reset before headers. reset reason: connection failure"), "http", "tunnel upstream_error target"},
		{"apache: proxy error", page("502 Proxy Error", "Server: Apache\r\n", "The proxy server could not handle the request<p>Reason: <strong>DNS lookup failure for: nx.example</strong></p>"), "http", "tunnel upstream_dns target"},
		{"mitmproxy: no certificate of the target", page("502 Bad Gateway", "Server: mitmproxy 10.1\r\n", "Certificate verify failed: unable to get local issuer certificate"), "http", "tunnel upstream_error target"},
		{"node: an error of its own words", page("502 Bad Gateway", "", "Error: getaddrinfo ENOTFOUND nx.example"), "http", "tunnel upstream_dns target"},
		{"node: connect refused", page("500 Internal Server Error", "", "connect ECONNREFUSED 192.0.2.1:443"), "http", "tunnel upstream_refused target"},
		{"python: timed out", page("504 Gateway Timeout", "", "[Errno 110] Connection timed out"), "http", "tunnel upstream_timeout target"},
		{"ccproxy: unauthorized", page("407 Unauthorized", "Server: Proxy\r\nProxy-Authenticate: Basic realm=\"CCProxy Authorization\"\r\n", "<h1>Unauthorized ...</h1>"), "http://a:b@", "proxy_auth auth_rejected credentials"},
		{"seller: address not on the list", page("403 Forbidden", "", "Your IP 192.0.2.7 is not whitelisted"), "http", "tunnel forbidden proxy"},
		{"seller: too many sessions", status("503 x", "X-Proxy-Error: concurrency limit reached"), "http", "tunnel rate_limited proxy"},
		{"haproxy: no server", page("503 Service Unavailable", "", "<h1>503 Service Unavailable</h1>\nNo server is available to handle this request."), "http", "tunnel upstream_error proxy"},
		{"seller: no exit", status("502 Bad Gateway", "X-Luminati-Error: No peers available"), "http", "tunnel upstream_error proxy"},
	})
}
