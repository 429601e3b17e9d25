package endpoint_test

import (
	"strings"
	"testing"

	"proxyward/checks/endpoint"
)

func FuzzParse(f *testing.F) {
	for _, raw := range []string{
		"http://joe:secret@proxy.example:8080", "socks5h://u%40x:p%2Fw@[2001:db8::1]:1080", "https://:pw@192.0.2.1:443/",
		"http://bücher.example。:80", "socks4a://id@h:1", "http://a@b@c:1", "http://%zz:%@h:1", "http://[::ffff:1.2.3.4]:1",
	} {
		f.Add(raw)
	}
	vocabulary := strings.Join(endpoint.Schemes, " ") // what errors say whatever the input
	for _, c := range faults {
		f.Add(c.raw)
		if _, err := endpoint.Parse(c.raw); err != nil {
			vocabulary += "\n" + err.Error()
		}
	}
	f.Fuzz(func(t *testing.T, raw string) {
		e, err := endpoint.Parse(raw)
		if err != nil {
			tellsNothing(t, raw, err.Error(), vocabulary)
			return
		}
		named, err := endpoint.Parse(e.ID())
		if err != nil || named.ID() != e.ID() {
			t.Errorf("Parse(%q): the id %q is read back as %q, %v", raw, e.ID(), named.ID(), err)
		}
		if back, err := endpoint.Parse(e.URL()); err != nil || back != e {
			t.Errorf("Parse(%q): the URL %q is read back as %q, %v", raw, e.URL(), back.URL(), err)
		}
	})
}

// tellsNothing fails if the message holds four bytes in a row of what may be credentials
// in raw, beyond the words that messages are made of.
func tellsNothing(t *testing.T, raw, message, vocabulary string) {
	userinfo := raw[:max(strings.LastIndexByte(raw, '@'), 0)]
	for i := range len(userinfo) - 3 {
		if part := userinfo[i : i+4]; strings.Contains(message, part) && !strings.Contains(vocabulary, part) {
			t.Errorf("Parse(%q): the message tells %q: %s", raw, part, message)
		}
	}
}
