package sources

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func mustParse(t *testing.T, text string) List {
	t.Helper()
	l, err := Parse(strings.NewReader(text), "http")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestEveryForm(t *testing.T) {
	cases := []struct{ line, url string }{
		{"socks5://user:hunter2@192.0.2.1:1080", "socks5://user:hunter2@192.0.2.1:1080"},
		{"HTTPS://Proxy.Example:443/", "https://proxy.example:443"},
		{"192.0.2.1:8080", "http://192.0.2.1:8080"},
		{"proxy.example:8080", "http://proxy.example:8080"},
		{"[2001:DB8::0:1]:8080", "http://[2001:db8::1]:8080"},
		{"user:hunter2@192.0.2.1:8080", "http://user:hunter2@192.0.2.1:8080"},
		{"user@192.0.2.1:8080", "http://user@192.0.2.1:8080"},
		{"us%40er:p%3Ass@192.0.2.1:8080", "http://us%40er:p%3Ass@192.0.2.1:8080"},
		{"user:hunter2@[2001:db8::1]:8080", "http://user:hunter2@[2001:db8::1]:8080"},
		{"192.0.2.1:8080:user:hunter2", "http://user:hunter2@192.0.2.1:8080"},
		{"[2001:db8::1]:8080:user:hunter2", "http://user:hunter2@[2001:db8::1]:8080"},
		{"192.0.2.1:8080:user:p%41ss", "http://user:p%2541ss@192.0.2.1:8080"},
		{"192.0.2.1:8080:user:pa:ss", "http://user:pa%3Ass@192.0.2.1:8080"},
		{"192.0.2.1:8080:user:p@ss", "http://user:p%40ss@192.0.2.1:8080"},
		{"192.0.2.1:8080:us/er:p://ss", "http://us%2Fer:p%3A%2F%2Fss@192.0.2.1:8080"},
		{"192.0.2.1:8080::", "http://192.0.2.1:8080"},
		{"192.0.2.1:8080:user:", "http://user@192.0.2.1:8080"},
		{"proxy.example:8080:user:p#ss", "http://user:p%23ss@proxy.example:8080"},
	}
	for _, c := range cases {
		l := mustParse(t, c.line)
		if len(l.Accepted) != 1 {
			t.Errorf("%s: %+v", c.line, l)
		} else if got := l.Accepted[0].Endpoint.URL(); got != c.url {
			t.Errorf("%s is %s, want %s", c.line, got, c.url)
		}
	}
}

func TestRejections(t *testing.T) {
	cases := []struct{ line, reason string }{
		{"hunter2", "no port"},
		{"192.0.2.1:hunter2", "bad port"},
		{"192.0.2.1:8080:hunter2", "three parts"},
		{"2001:db8::1:8080", "in brackets"},
		{"2001:db8::1", "in brackets"},
		{"ftp://user:hunter2@192.0.2.1:21", "unknown scheme"},
		{"http://user:hunter2@192.0.2.1", "no port"},
		{"http://user:hunter2@192.0.2.1:8080/path", "after the port"},
		{"user:hunter2@192.0.2.01:8080", "IPv4"},
		{"192.0.2.1:8080:user:hunter2@proxy.example:80", "two readings"},
		{"192.0.2.1:8080 hunter2", "white space"},
		{"user:hunt\x07er2@192.0.2.1:8080", "control character"},
		{"user:hunter2\x00@192.0.2.1:8080", "NUL"},
		{"user:hunter2\xff@192.0.2.1:8080", "UTF-8"},
		{"user:hunter2@@", "no port"},
		{"://hunter2", ""},
		{"@", "no port"},
		{":", ""},
		{"[", ""},
		{"[]:1:a:b", "IPv6"},
	}
	for _, c := range cases {
		l := mustParse(t, "\n"+c.line)
		if len(l.Rejected) != 1 || len(l.Accepted) > 0 {
			t.Errorf("%q: %+v", c.line, l)
			continue
		}
		r := l.Rejected[0]
		if r.Line != 2 || r.Reason == "" || !strings.Contains(r.Reason, c.reason) || strings.Contains(r.Reason, "hunter2") {
			t.Errorf("%q: line %d: %s", c.line, r.Line, r.Reason)
		}
	}
}

func TestLinesCommentsAndEnds(t *testing.T) {
	l := mustParse(t, "\xef\xbb\xbf192.0.2.1:80\r\n\r\n# comment \xff\n  192.0.2.2:80\t # Düsseldorf\r192.0.2.3:80\n\n\r \t\n192.0.2.4:80#no\n192.0.2.5:80")
	got := fmt.Sprint(l.Accepted, " ", l.Rejected)
	want := "[{1 http://192.0.2.1:80} {4 http://192.0.2.2:80} {5 http://192.0.2.3:80} {10 http://192.0.2.5:80}] [{9 bad port: write a number from 1 to 65535}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTheFirstOfDuplicatesCounts(t *testing.T) {
	l := mustParse(t, "http://user:one@Proxy.example:80\nuser:one@proxy.example:80\nproxy.example:80:user:two\nproxy.example:80\n")
	if len(l.Accepted) != 2 || l.Accepted[0].Endpoint.Password() != "one" {
		t.Errorf("accepted %v", l.Accepted)
	}
	if len(l.Duplicates) != 2 || l.Duplicates[0].First != 1 || l.Duplicates[0].OtherPassword || l.Duplicates[1].Line != 3 || !l.Duplicates[1].OtherPassword {
		t.Errorf("duplicates %+v", l.Duplicates)
	}
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		"": `{"accepted":[],"rejected":[],"duplicates":[]}`,
		"a:hunter2@b:1\nb:1:a:hunter2\nhunter2": `{"accepted":[{"line":1,"endpoint":"http://a@b:1"}],` +
			`"rejected":[{"line":3,"reason":"no port: write host:port"}],"duplicates":[{"line":2,"endpoint":"http://a@b:1"}]}`,
	} {
		got, err := json.Marshal(mustParse(t, text))
		if err != nil || string(got) != want {
			t.Errorf("%q:\ngot  %s %v\nwant %s", text, got, err, want)
		}
	}
}

func TestSchemes(t *testing.T) {
	for scheme, want := range map[string]string{"": "http://b:1", "SOCKS5": "socks5://b:1", "https": "https://b:1"} {
		l, err := Parse(strings.NewReader("b:1"), scheme)
		if err != nil || l.Accepted[0].Endpoint.ID() != want {
			t.Errorf("%q: %v %v", scheme, l, err)
		}
	}
	if _, err := Parse(strings.NewReader("b:1"), "ftp"); err == nil {
		t.Error("the default scheme ftp is accepted")
	}
}

// repeated reads its text n times; n is what is left in bytes.
type repeated struct {
	text string
	n    int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), r.n)
	n = copy(p[:n], r.text)
	r.n -= n
	return n, nil
}

func TestAHugeLineTakesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := io.MultiReader(strings.NewReader("192.0.2.1:80\n"), &repeated{strings.Repeat("x", 1<<16), 200 << 20}, strings.NewReader("\n192.0.2.2:80\n"))
	l, err := Parse(text, "http")
	runtime.ReadMemStats(&after)
	if err != nil || len(l.Accepted) != 2 || l.Accepted[1].Line != 3 {
		t.Fatalf("%v %+v", err, l)
	}
	if len(l.Rejected) != 1 || l.Rejected[0].Line != 2 || !strings.Contains(l.Rejected[0].Reason, "over 8 KiB") {
		t.Errorf("%+v", l.Rejected)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

func TestLinesUpToTheLimitAreRead(t *testing.T) {
	line := "192.0.2.1:80 #" + strings.Repeat("x", MaxLineBytes-14)
	if l := mustParse(t, line+"\r\n"); len(l.Accepted) != 1 {
		t.Errorf("%d bytes: %+v", len(line), l)
	}
	if l := mustParse(t, line+"x"); len(l.Rejected) != 1 {
		t.Errorf("%d bytes: %+v", len(line)+1, l)
	}
}

func TestTooManyLinesAreAnError(t *testing.T) {
	text := "a:1\na:1\nnothing\n# comment\n\nb:2\n"
	if l, err := parse(strings.NewReader(text), "http", 4); err != nil || len(l.Accepted) != 2 {
		t.Errorf("%+v %v", l, err)
	}
	if _, err := parse(strings.NewReader(text), "http", 3); err == nil || !strings.Contains(err.Error(), "line 6") {
		t.Errorf("a fourth entry of three: %v", err)
	}
}

func TestABrokenReadIsAnError(t *testing.T) {
	broken := errors.New("disk on fire")
	l, err := Parse(io.MultiReader(strings.NewReader("a:1\nb:"), iotest.ErrReader(broken)), "http")
	if !errors.Is(err, broken) || len(l.Accepted) != 1 || len(l.Rejected) != 0 {
		t.Errorf("%+v %v", l, err)
	}
}

func TestReadersOfAnySize(t *testing.T) {
	text := "a:1\r\nb:2\rc:3\n\r\nd:4"
	want := fmt.Sprint(mustParse(t, text))
	for name, r := range map[string]io.Reader{
		"one byte":  iotest.OneByteReader(strings.NewReader(text)),
		"half":      iotest.HalfReader(strings.NewReader(text)),
		"data, EOF": iotest.DataErrReader(strings.NewReader(text)),
	} {
		if l, err := Parse(r, "http"); err != nil || fmt.Sprint(l) != want {
			t.Errorf("%s at a time: %v %v, want %s", name, l, err, want)
		}
	}
}
