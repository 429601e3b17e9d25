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
		{"haproxy: no server", page("503 Service Unavailable", "", "<h1>503 Service Unavailable</h1>\nNo server is available to handle this request."), "http", "tunnel upstream_error proxy"},
		{"seller: no exit", status("502 Bad Gateway", "X-Luminati-Error: No peers available"), "http", "tunnel upstream_error proxy"},
	})
}
