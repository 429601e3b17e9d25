package zoo

import "time"

// Content are whole answers that are, or are not, what a check expects.
func Content() []Behaviour {
	page := ok("Content-Type: text/html\r\nX-A: 1\r\nX-A: 2\r\n", "the catalogue")
	guarded := ok("Server: cloudflare\r\nCF-RAY: 1\r\n", "are you a robot? captcha")
	var list []Behaviour
	for _, c := range []struct {
		asks   Asked
		answer answer
	}{
		{Asked{Status: 403}, answer{"status expected to be bad", status("403 x", "Server: squid"), pass, pass}},
		{Asked{Status: 404}, answer{"200 not expected", page, "verify http_status target", "verify http_status target"}},
		{Asked{Matches: "cat.l?ogue$"}, answer{"body matches", page, pass, pass}},
		{Asked{Matches: "^cat"}, answer{"body matches not", page, "verify content_mismatch proxy", "verify content_mismatch target"}},
		{Asked{Body: "welcome"}, answer{"body contains not", page, "verify content_mismatch proxy", "verify content_mismatch target"}},
		{Asked{NotBody: "cat"}, answer{"body excludes", page, "verify content_mismatch unknown", "verify content_mismatch target"}},
		{Asked{Body: "welcome"}, answer{"a guard before the target", guarded, "verify content_mismatch target", "verify content_mismatch target"}},
		{Asked{SHA256Of: "the other catalogue"}, answer{"another page by its sum", page, "verify content_mismatch proxy", "verify content_mismatch target"}},
		{Asked{SHA256Of: "the catalogue"}, answer{"the very page", page, pass, pass}},
		{Asked{Header: "content-TYPE", Value: "^text/html"}, answer{"header", page, pass, pass}},
		{Asked{Header: "X-A", Value: "^2$"}, answer{"one of two header lines", page, pass, pass}},
		{Asked{Header: "X-B"}, answer{"header missing", page, "verify header_missing proxy", "verify header_missing target"}},
		{Asked{Header: "Content-Type", Value: "json"}, answer{"header mismatch", page, "verify header_mismatch proxy", "verify header_mismatch target"}},
		{Asked{Body: "catalogue"}, answer{"nothing at all", ok("Content-Length: 0\r\n", ""), "verify content_mismatch proxy", "verify content_mismatch target"}},
		{Asked{Method: "HEAD"}, answer{"a length without a body to HEAD", SayAndHang("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), pass, pass}},
		{Asked{Body: "catalogue"}, answer{"packed, and nobody says so", ok("", Packed("gzip", "catalogue")), "verify content_mismatch proxy", "verify content_mismatch target"}},
		{Asked{Status: 204}, answer{"204 as expected", status("204 No Content"), pass, pass}},
		{Asked{Body: "catalogue"}, answer{"quota used up, with 200", ok("", "Your quota is used up"), "verify content_mismatch proxy", "verify content_mismatch target"}},
		{Asked{SHA256Of: "the catalogue"}, answer{"markup put into the page", ok("", "the catalogue<script src=//ads.example></script>"), "verify content_mismatch proxy", "verify content_mismatch target"}},
		{Asked{MaxBody: 5}, answer{"body over the limit", page, "body too_large target", "body too_large target"}},
		{Asked{MaxBody: 13}, answer{"body just within the limit", page, pass, pass}},
		{Asked{MaxHead: 20}, answer{"head over the limit", page, "headers header_too_large unknown", "headers header_too_large target"}},
		{Asked{Within: time.Nanosecond}, answer{"right but too late", page, "verify too_slow proxy", "verify too_slow proxy"}},
		{Asked{Path: "?n={nonce}", Body: "{nonce}"}, answer{"a stored copy", ok("Age: 9\r\n", "catalogue abcdefgh"), "verify stale proxy", "verify stale target"}},
		{Asked{Path: "?n={nonce}", Body: "{nonce}", NotBody: "log in"}, answer{"a page that is no copy either", ok("", "please log in"), "verify content_mismatch unknown", "verify content_mismatch target"}},
	} {
		list = append(list, answers("content", []answer{c.answer}, func(b *Behaviour) { b.Asks = c.asks })...)
	}
	return list
}
