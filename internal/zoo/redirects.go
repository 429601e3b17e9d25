package zoo

import (
	"net"
	"strings"
)

// Deeper answers each request with a redirect to a path one step further down.
func deeper(c net.Conn) {
	path := "/"
	if words := strings.Fields(string(hearHead(c))); len(words) > 1 {
		path = words[1][strings.LastIndexByte(words[1], ':')+1:]
		path = path[strings.IndexByte(path, '/'):]
	}
	Write("HTTP/1.1 302 Found\r\nLocation: " + path + "x/\r\nContent-Length: 0\r\n\r\n")(c)
}

// Redirects are followed only within the origin, and not for ever.
func Redirects() []Behaviour {
	to := func(place string) Handler { return status("302 Found", "Location: "+place) }
	same := func(name string, h Handler, want string) answer { return answer{name, h, want, want} }
	return append(answers("redirects followed", []answer{
		same("to itself", to("/"), "verify redirect_loop target"),
		same("deeper and deeper", deeper, "verify redirect_loop target"),
		{"to another site", to("https://elsewhere.example/welcome"), "verify redirected unknown", "verify redirected target"},
		{"to a scheme that is none of ours", to("gopher://elsewhere.example/"), "verify redirected unknown", "verify redirected target"},
		{"to a file", to("file:///etc/passwd"), "verify redirected unknown", "verify redirected target"},
		same("to another port of the site", to("http://target.test:1/"), "verify redirected target"),
		same("to https of the site", to("https://target.test/"), "verify redirected target"),
		same("to an address that is none", to("http://[::1"), "verify redirected target"),
		same("without a place", status("302 Found"), "verify http_status target"),
		{"to the metadata of a cloud", to("http://169.254.169.254/latest/"), "tunnel redirected proxy", "verify redirected target"},
	}, func(b *Behaviour) { b.Asks.Follow = 5 }), answers("redirects", []answer{
		same("permanent, to a path", status("301 Moved Permanently", "Location: /index.html"), "verify redirected target"),
		same("308 to a path", status("308 Permanent Redirect", "Location: /index.html"), "verify redirected target"),
		same("304 to an unconditional request", status("304 Not Modified"), "verify http_status target"),
		same("300 with choices", status("300 Multiple Choices"), "verify http_status target"),
	})...)
}
