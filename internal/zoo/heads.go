package zoo

// Heads are answers whose head is missing, broken or endless.
func Heads() []Behaviour {
	return answers("heads", []answer{
		{"close instead of an answer", Listen, "headers eof unknown", "headers eof target"},
		{"reset instead of an answer", SayAndReset(""), "tunnel reset proxy", "headers reset target"},
		{"reset in the head", SayAndReset("HTTP/1.1 200 OK\r\nA: b"), "headers reset unknown", "headers reset target"},
		{"close in the head", Say("HTTP/1.1 200 OK\r\nA: b"), "headers eof unknown", "headers eof target"},
		{"not HTTP", Say("hello\r\n\r\n"), "tunnel protocol_mismatch proxy", "headers malformed target"},
		{"TLS to plain HTTP", Say("\x15\x03\x01\x00\x02\x02\x46"), "tunnel protocol_mismatch proxy", "headers protocol_mismatch target"},
		{"status of letters", Say("HTTP/1.1 abc\r\n\r\n"), "headers malformed unknown", "headers malformed target"},
		{"101", Say("HTTP/1.1 101 Switching\r\n\r\n"), "headers malformed unknown", "headers malformed target"},
		{"head without end", Flood("HTTP/1.1 200 OK\r\n", "A: bbbbbbbbbbbbbbbbbbb\r\n", 0), "headers header_too_large unknown", "headers header_too_large target"},
		{"line without end", Flood("HTTP/1.1 200 OK\r\nA: ", "b", 0), "headers header_too_large unknown", "headers header_too_large target"},
		{"a page without a head", Say("<html>hello</html>"), "tunnel protocol_mismatch proxy", "headers malformed target"},
		{"NUL in the head", ok("A: b\x00c\r\n", "x"), "headers malformed unknown", "headers malformed target"},
		{"length with a sign", ok("Content-Length: +3\r\n", "cat"), "headers malformed unknown", "headers malformed target"},
		{"chunked twice", ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), "headers malformed unknown", "headers malformed target"},
		{"two lengths", ok("Content-Length: 3\r\nContent-Length: 9\r\n", "catalogue"), "headers malformed unknown", "headers malformed target"},
		{"length of letters", ok("Content-Length: many\r\n", "cat"), "headers malformed unknown", "headers malformed target"},
		{"length negative", ok("Content-Length: -1\r\n", "cat"), "headers malformed unknown", "headers malformed target"},
		{"a transfer coding nobody asked for", ok("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), "headers malformed unknown", "headers malformed target"},
	})
}
