package zoo

// WrongProtocol are peers that speak something else than the scheme says.
func WrongProtocol() []Behaviour {
	return family("wrong protocol", connects, []row{
		{"nginx: plain request to the HTTPS port", page("400 Bad Request", "Server: nginx\r\n", "<center>The plain HTTP request was sent to HTTPS port</center>"), "http", "tunnel protocol_mismatch proxy"},
		{"Go: plain request to the HTTPS port", Say("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"), "http", "tunnel protocol_mismatch proxy"},
		{"Apache: plain request to the HTTPS port", page("400 Bad Request", "", "You're speaking plain HTTP to an SSL-enabled server port."), "http", "tunnel protocol_mismatch proxy"},
		{"TLS alert to a plain request", Say("\x15\x03\x01\x00\x02\x02\x46"), "http", "tunnel protocol_mismatch proxy"},
		{"SSH", Say("SSH-2.0-OpenSSH_9.2\r\n"), "http", "tunnel protocol_mismatch proxy"},
		{"SOCKS5 behind an http scheme", Say("\x05\xff"), "http", "tunnel protocol_mismatch proxy"},
		{"ICY, as radio servers say", Say("ICY 200 OK\r\n\r\n"), "http", "tunnel protocol_mismatch proxy"},
		{"a status line without a version", Say("HTTP 200 OK\r\n\r\n"), "http", "tunnel protocol_mismatch proxy"},
		{"HTTP/2 at once", Say("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"), "http", "tunnel protocol_mismatch proxy"},
		{"SOCKS4 behind an http scheme", Say("\x00\x5b\x00\x00\x00\x00\x00\x00"), "http", "tunnel protocol_mismatch proxy"},
		{"FTP", Say("220 ProFTPD Server\r\n500 CONNECT not understood\r\n"), "http", "tunnel protocol_mismatch proxy"},
		{"Redis", Say("-ERR unknown command\r\n"), "http", "tunnel protocol_mismatch proxy"},
		{"SMTP", Say("220 mail ESMTP\r\n"), "http", "tunnel protocol_mismatch proxy"},
		{"HTML without a status line", Say("<html>hello</html>"), "http", "tunnel protocol_mismatch proxy"},
	})
}
