package zoo

// Squid are squid's own words, in X-Squid-Error.
func Squid() []Behaviour {
	return family("squid", connects, []row{
		{"squid: refused", status("503 Service Unavailable", "X-Squid-Error: ERR_CONNECT_FAIL 111"), "http", "tunnel upstream_refused target"},
		{"squid: timeout", status("503 Service Unavailable", "X-Squid-Error: ERR_CONNECT_FAIL 110"), "http", "tunnel upstream_timeout target"},
		{"squid: no route", status("503 Service Unavailable", "X-Squid-Error: ERR_CONNECT_FAIL 113"), "http", "tunnel upstream_unreachable target"},
		{"squid: an errno nobody knows", status("503 Service Unavailable", "X-Squid-Error: ERR_CONNECT_FAIL 999"), "http", "tunnel upstream_error target"},
		{"squid: no such name", status("503 Service Unavailable", "X-Squid-Error: ERR_DNS_FAIL 0"), "http", "tunnel upstream_dns target"},
		{"squid: denied", status("403 Forbidden", "X-Squid-Error: ERR_ACCESS_DENIED 0"), "http", "tunnel forbidden proxy"},
		{"squid: denied with a page of its own", status("403 Forbidden", "X-Squid-Error: ERR_OUR_PAGE 0"), "http", "tunnel forbidden proxy"},
		{"squid: a port that is not safe", status("403 Forbidden", "X-Squid-Error: ERR_ACCESS_DENIED 0"), "http://a:b@", "tunnel forbidden proxy"},
		{"squid: out of sockets", status("500 x", "X-Squid-Error: ERR_SOCKET_FAILURE 98"), "http", "tunnel upstream_error proxy"},
	})
}
