package zoo

// Grants are replies to CONNECT that all grant the tunnel, however they are written: each at
// once, and in single bytes.
func Grants() []Behaviour {
	var table []row
	for _, g := range []struct{ name, reply string }{
		{"HTTP/1.0 status line and nothing else", "HTTP/1.0 200 Connection established\r\n\r\n"},
		{"Via and Proxy-Connection after the status", "HTTP/1.1 200 Connection established\r\nVia: 1.1 x\r\nProxy-Connection: keep-alive\r\nProxy-Agent: y\r\n\r\n"},
		{"OK instead of Connection established", "HTTP/1.1 200 OK\r\n\r\n"},
		{"another 2xx", "HTTP/1.1 204 No Content\r\n\r\n"},
		{"Content-Length 0", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		{"a Content-Length that is not meant", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"},
		{"two Content-Lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"},
		{"Transfer-Encoding chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
		{"Content-Encoding gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"},
		{"Connection close", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"},
		{"status line ends after the digits", "HTTP/1.1 200\r\n\r\n"},
		{"blank after the digits", "HTTP/1.1 200 \r\n\r\n"},
		{"two blanks before the digits", "HTTP/1.1  200 OK\r\n\r\n"},
		{"lines end by LF alone", "HTTP/1.1 200 Connection established\nVia: x\n\n"},
		{"an odd minor version", "HTTP/1.2 200 OK\r\n\r\n"},
		{"HTTP/2.0 in text", "HTTP/2.0 200 OK\r\n\r\n"},
		{"lower case protocol", "http/1.1 200 ok\r\n\r\n"},
		{"a line that is no header", "HTTP/1.1 200 OK\r\nwhatever\r\n\r\n"},
		{"a header name with blanks in it", "HTTP/1.1 200 OK\r\nProxy Agent: x\r\nA : b\r\n\r\n"},
		{"a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"},
		{"folded header", "HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\r\n"},
		{"interim 100 first", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"},
		{"empty line first", "\r\nHTTP/1.1 200 OK\r\n\r\n"},
		{"non-ASCII reason phrase", "HTTP/1.1 200 Verbindung hergestellt \xe4\xf6\r\n\r\n"},
		{"reason phrase that speaks of a failure", "HTTP/1.1 200 Connection refused? No, established\r\n\r\n"},
		{"Proxy-Authenticate although it is all well", "HTTP/1.1 200 OK\r\nProxy-Authenticate: NTLM\r\n\r\n"},
		{"Set-Cookie and a Location", "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nLocation: http://x/\r\n\r\n"},
		{"Proxy-Status without an error", "HTTP/1.1 200 OK\r\nProxy-Status: p; next-hop=\"192.0.2.1\"\r\n\r\n"},
	} {
		table = append(table, row{g.name, Grant(g.reply, 0), "http", pass}, row{g.name + ", in single bytes", Grant(g.reply, 1), "http", pass})
	}
	return family("grants", "https://SITE/", table)
}
