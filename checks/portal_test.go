package checks_test

import (
	"strings"
	"testing"

	"proxyward/internal/zoo"
)

// A login page on the way is the proxy's; a path that only sounds like one is not, and the
// place the operator listed never is.
func TestRedirectsThatSoundLikeAPortal(t *testing.T) {
	leads := func(to string) string {
		return zoo.Serve(t, zoo.Say("HTTP/1.1 302 F\r\nLocation: "+to+"\r\nContent-Length: 0\r\n\r\n")).URL("http", "")
	}
	s := request("http://target.test/p")
	want(t, run(t, s, leads("http://login.other.test/x")), "tunnel redirected proxy")
	want(t, run(t, s, leads("http://www.other.test/blocked?id=1")), "tunnel redirected proxy")
	want(t, run(t, s, leads("http://www.other.test/authors")), "verify redirected unknown")
	want(t, run(t, s, leads("http://www.other.test/blocks")), "verify redirected unknown")
	s.Steps[0].Request.FollowRedirects = 1
	s.Steps[0].Request.RedirectTo = []string{"http://login.other.test"}
	want(t, run(t, s, leads("http://login.other.test/x")), "verify redirect_loop target") // followed, to where it leads again
}

// A refusal is one without its blank line too, but not without any end.
func TestARefusalWithEndlessHeadersIsTooLarge(t *testing.T) {
	for _, status := range []string{"200 OK", "502 Bad Gateway"} {
		p := zoo.Serve(t, zoo.Say("HTTP/1.1 "+status+"\r\n"+strings.Repeat("X: y\r\n", 30_000)))
		want(t, run(t, request("https://target.test/"), p.URL("http", "")), "tunnel header_too_large proxy")
	}
}
