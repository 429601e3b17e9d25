package zoo

import "strings"

// Decoding are bodies in content codings.
func Decoding() []Behaviour {
	return append(answers("decoding", []answer{
		{"gzip cut", ok("Content-Encoding: gzip\r\nContent-Length: 500\r\n", Packed("gzip", strings.Repeat("x", 99))[:20]), "body truncated target", "body truncated target"},
		{"gzip without its end", ok("Content-Encoding: gzip\r\n", Packed("gzip", "catalogue")[:20]), "body decode_error target", "body decode_error target"},
		{"gzip with a wrong sum", ok("Content-Encoding: gzip\r\n", Packed("gzip", "catalogue")[:len(Packed("gzip", "catalogue"))-8]+"12345678"), "body decode_error target", "body decode_error target"},
		{"an empty body of gzip", ok("Content-Encoding: gzip\r\nContent-Length: 0\r\n", ""), pass, pass},
		{"deflate cut", ok("Content-Encoding: deflate\r\n", Packed("zlib", strings.Repeat("catalogue", 9))[:12]), "body decode_error target", "body decode_error target"},
		{"not gzip", ok("Content-Encoding: gzip\r\n", "catalogue"), "body decode_error target", "body decode_error target"},
		{"not brotli", ok("Content-Encoding: br\r\n", "\xff\xff\xff\xff"), "body decode_error target", "body decode_error target"},
		{"not zstd", ok("Content-Encoding: zstd\r\n", "catalogue"), "body decode_error target", "body decode_error target"},
		{"a coding nobody knows", ok("Content-Encoding: rot13\r\n", "cat"), "body decode_error target", "body decode_error target"},
		{"codings without end", ok("Content-Encoding: gzip, gzip, gzip, gzip\r\n", "cat"), "body decode_error target", "body decode_error target"},
		{"gzip bomb", ok("Content-Encoding: gzip\r\n", Packed("gzip", strings.Repeat("\x00", 8<<20))), "body too_large target", "body too_large target"},
		{"brotli bomb", ok("Content-Encoding: br\r\n", Packed("br", strings.Repeat("\x00", 8<<20))), "body too_large target", "body too_large target"},
		{"zstd bomb", ok("Content-Encoding: zstd\r\n", Packed("zstd", strings.Repeat("\x00", 8<<20))), "body too_large target", "body too_large target"},
		{"gzip of nothing without end", Flood("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", Packed("gzip", ""), 0), "body too_large target", "body too_large target"},
	}), answers("decoding", []answer{
		{"gzip unasked", ok("Content-Encoding: gzip\r\n", Packed("gzip", "the catalogue")), pass, pass},
		{"x-gzip in chunks", ok("Content-Encoding: x-gzip\r\nTransfer-Encoding: chunked\r\n", inChunks(Packed("gzip", "the catalogue"))), pass, pass},
		{"deflate as zlib", ok("Content-Encoding: deflate\r\n", Packed("zlib", "the catalogue")), pass, pass},
		{"deflate raw", ok("Content-Encoding: deflate\r\n", Packed("flate", "the catalogue")), pass, pass},
		{"brotli", ok("Content-Encoding: br\r\n", Packed("br", "the catalogue")), pass, pass},
		{"zstd", ok("Content-Encoding: zstd\r\n", Packed("zstd", "the catalogue")), pass, pass},
		{"a charset in the place of a coding", ok("Content-Encoding: UTF-8\r\n", "the catalogue"), pass, pass},
		{"binary in the place of a coding", ok("Content-Encoding: binary\r\n", "the catalogue"), pass, pass},
		{"GZIP in capitals", ok("Content-Encoding: GZIP\r\n", Packed("gzip", "the catalogue")), pass, pass},
		{"gzip with a length", page("200 OK", "Content-Encoding: gzip\r\n", Packed("gzip", "the catalogue")), pass, pass},
		{"gzip in gzip", ok("Content-Encoding: gzip, gzip\r\n", Packed("gzip", Packed("gzip", "the catalogue"))), pass, pass},
		{"gzip with something behind it", ok("Content-Encoding: gzip\r\n", Packed("gzip", "the catalogue")+"\x00\x00\x00"), pass, pass},
		{"gzip of two members", ok("Content-Encoding: gzip\r\n", Packed("gzip", "the cata")+Packed("gzip", "logue")), pass, pass},
		{"identity", ok("Content-Encoding: identity\r\n", "the catalogue"), pass, pass},
	}, func(b *Behaviour) { b.Asks.Body = "catalogue" })...)
}
