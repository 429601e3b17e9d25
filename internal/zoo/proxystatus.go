package zoo

// ProxyStatus are errors as RFC 9209 writes them.
func ProxyStatus() []Behaviour {
	return family("Proxy-Status", connects, []row{
		{"RFC 9209: refused", status("502 Bad Gateway", "Proxy-Status: p.example; error=connection_refused"), "http", "tunnel upstream_refused target"},
		{"RFC 9209: dns", status("502 Bad Gateway", `Proxy-Status: p; error=dns_error; rcode="NXDOMAIN"`), "http", "tunnel upstream_dns target"},
		{"RFC 9209: the nearest one counts", status("502 x", `Proxy-Status: origin; error=dns_timeout, "near; error=x"; details="a, b; error=dns_error"; error=connection_timeout`), "http", "tunnel upstream_timeout target"},
		{"RFC 9209: denied", status("403 x", "Proxy-Status: p; error=http_request_denied"), "http", "tunnel forbidden proxy"},
		{"RFC 9209: prohibited address", status("502 x", "Proxy-Status: p; error=destination_ip_prohibited"), "http", "tunnel forbidden proxy"},
		{"RFC 9209: its own fault", status("500 x", "Proxy-Status: p; error=proxy_internal_error"), "http", "tunnel upstream_error proxy"},
		{"RFC 9209: loop", status("502 x", "Proxy-Status: p; error=proxy_loop_detected"), "http", "tunnel upstream_error proxy"},
		{"RFC 9209: connection limit", status("503 x", "Proxy-Status: p; error=connection_limit_reached"), "http", "tunnel rate_limited proxy"},
		{"RFC 9209: unroutable", status("502 x", "Proxy-Status: p; error=destination_ip_unroutable"), "http", "tunnel upstream_unreachable target"},
		{"RFC 9209: a type of tomorrow", status("502 x", "Proxy-Status: p; error=quantum_decoherence"), "http", "tunnel upstream_error unknown"},
	})
}
