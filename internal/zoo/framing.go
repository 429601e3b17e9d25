package zoo

// Framing are replies to CONNECT that break the protocol, or break off.
func Framing() []Behaviour {
	return family("CONNECT framing", connects, []row{
		{"status of two digits", Say("HTTP/1.1 20 OK\r\n\r\n"), "http", "tunnel malformed proxy"},
		{"status of letters", Say("HTTP/1.1 abc OK\r\n\r\n"), "http", "tunnel malformed proxy"},
		{"101", Say("HTTP/1.1 101 Switching Protocols\r\n\r\n"), "http", "tunnel malformed proxy"},
		{"NUL in the head", Say("HTTP/1.1 200 OK\r\nA: b\x00c\r\n\r\n"), "http", "tunnel malformed proxy"},
		{"header lines without end", Flood("HTTP/1.1 200 OK\r\n", "X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n", 0), "http", "tunnel header_too_large proxy"},
		{"one line without end", Flood("HTTP/1.1 200 ", "b", 0), "http", "tunnel header_too_large proxy"},
		{"interim answers without end", Flood("", "HTTP/1.1 100 Continue\r\n\r\n", 0), "http", "tunnel header_too_large proxy"},
		{"reset right after accept", ResetAtOnce, "http", "tunnel reset proxy"},
		{"200 without the blank line, and a close", Say("HTTP/1.1 200 OK\r\n"), "http", "tunnel eof proxy"},
		{"403 and not even a blank line", Say("HTTP/1.1 403 Forbidden\r\n"), "http", "tunnel forbidden proxy"},
		{"502 whose head is reset", SayAndReset("HTTP/1.1 502 Bad Gateway\r\nProxy-Status: p; error=connection_refused\r\nA: "), "http", "tunnel upstream_refused target"},
		{"half a status line, and a close", Say("HTTP/1.1 4"), "http", "tunnel eof proxy"},
		{"a status line that ends in the digits without a line end", Say("HTTP/1.1 403"), "http", "tunnel eof proxy"},
		{"reset after CONNECT", SayAndReset(""), "http", "tunnel reset proxy"},
		{"reset in the reply", SayAndReset("HTTP/1.1 200 OK\r\nA: "), "http", "tunnel reset proxy"},
		{"close after CONNECT", Listen, "http", "tunnel eof proxy"},
		{"close in the reply", Say("HTTP/1.1 200 OK\r\nA: "), "http", "tunnel eof proxy"},
	})
}
