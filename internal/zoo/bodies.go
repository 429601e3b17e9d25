package zoo

import "strings"

// Bodies are answers whose body is framed well, oddly, or not at all.
func Bodies() []Behaviour {
	return append(answers("bodies", []answer{
		{"body shorter than its length", ok("Content-Length: 9\r\n", "cat"), "body truncated target", "body truncated target"},
		{"chunked without the last chunk", ok("Transfer-Encoding: chunked\r\n", "3\r\ncat\r\n"), "body truncated target", "body truncated target"},
		{"chunk cut", ok("Transfer-Encoding: chunked\r\n", "9\r\ncat"), "body truncated target", "body truncated target"},
		{"chunked without the blank line", ok("Transfer-Encoding: chunked\r\n", "3\r\ncat\r\n0\r\n"), "body truncated target", "body truncated target"},
		{"chunk size of letters", ok("Transfer-Encoding: chunked\r\n", "zz\r\n"), "body malformed target", "body malformed target"},
		{"chunk size negative", ok("Transfer-Encoding: chunked\r\n", "-1\r\n"), "body malformed target", "body malformed target"},
		{"chunk size over 64 bits", ok("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"), "body malformed target", "body malformed target"},
		{"chunk without its line end", ok("Transfer-Encoding: chunked\r\n", "3\r\ncatalogue"), "body malformed target", "body malformed target"},
		{"chunk line without end", Flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x", 0), "body malformed target", "body malformed target"},
		{"trailers without end", Flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: bbbbbbbbbbbbbbbbb\r\n", 0), "body malformed target", "body malformed target"},
		{"body without end", Flood("HTTP/1.1 200 OK\r\n\r\n", "catalogue", 0), "body too_large target", "body too_large target"},
		{"huge body as announced", Flood("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", "catalogue", 0), "body too_large target", "body too_large target"},
		{"chunks without end", Flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1000\r\n"+strings.Repeat("x", 4096)+"\r\n", 0), "body too_large target", "body too_large target"},
		{"reset in the body", SayAndReset("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncat"), "body reset unknown", "body reset unknown"},
	}), answers("good bodies", []answer{
		{"length", ok("Content-Length: 9\r\n", "catalogue"), pass, pass},
		{"more than the length", ok("Content-Length: 9\r\n", "catalogue and more"), pass, pass},
		{"until close", ok("", "the catalogue"), pass, pass},
		{"HTTP/1.0", Say("HTTP/1.0 200 OK\n\nthe catalogue"), pass, pass},
		{"chunked", ok("Transfer-Encoding: chunked\r\n", "4\r\ncata\r\n5;x=y\r\nlogue\r\n0\r\n\r\n"), pass, pass},
		{"chunked with trailers", ok("Transfer-Encoding: chunked\r\nTrailer: X\r\n", "9\r\ncatalogue\r\n0\r\nX: y\r\n\r\n"), pass, pass},
		{"chunked with LF alone", ok("Transfer-Encoding: chunked\r\n", "9\ncatalogue\n0\n\n"), pass, pass},
		{"chunked and a length", ok("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "9\r\ncatalogue\r\n0\r\n\r\n"), pass, pass},
		{"the same length twice", ok("Content-Length: 9\r\nContent-Length: 9\r\n", "catalogue"), pass, pass},
		{"the length twice in one line", ok("Content-Length: 9, 9\r\n", "catalogue"), pass, pass},
		{"chunked and a length of letters", ok("Content-Length: many\r\nTransfer-Encoding: chunked\r\n", "9\r\ncatalogue\r\n0\r\n\r\n"), pass, pass},
		{"an empty length", ok("Content-Length:\r\n", "catalogue"), pass, pass},
		{"CHUNKED in capitals", ok("TRANSFER-ENCODING: Chunked\r\n", "9\r\ncatalogue\r\n0\r\n\r\n"), pass, pass},
		{"identity as a transfer coding", ok("Transfer-Encoding: identity\r\nContent-Length: 9\r\n", "catalogue"), pass, pass},
		{"102 first", Say("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n\r\ncatalogue"), pass, pass},
		{"a reset after the whole body", SayAndReset("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncatalogue"), pass, pass},
		{"kept open after the whole body", SayAndHang("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncatalogue"), pass, pass},
		{"kept open after the last chunk", SayAndHang("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ncatalogue\r\n0\r\n\r\n"), pass, pass},
		{"two answers in a row", Say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncatalogueHTTP/1.1 500 x\r\n\r\n"), pass, pass},
		{"an answer before the request", Write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncatalogue"), pass, pass},
		{"many headers within the limit", ok(strings.Repeat("X-Header: some value that is not short\r\n", 1000), "catalogue"), pass, pass},
		{"in single bytes", Pieces("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ncatalogue\r\n0\r\n\r\n", 1), pass, pass},
		{"100 first", Say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\ncatalogue"), pass, pass},
		{"early hints first", Say("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\ncatalogue"), pass, pass},
		{"no reason phrase", Say("HTTP/1.1 200\r\n\r\ncatalogue"), pass, pass},
	}, func(b *Behaviour) { b.Asks.Body = "catalogue" })...)
}
