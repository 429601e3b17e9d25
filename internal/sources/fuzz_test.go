package sources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"proxyward/checks/endpoint"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"socks5://u:hunter2@[2001:db8::1]:1080\r\n# c\r\nh:1:u:hunter2 # c\ru:hunter2@h:1\n\xef\xbb\xbf\x00\xff",
		"\xef\xbb\xbfh:1\n\n\r\r\n", "h:1:hunter2@g:2", "xn--a:1\nBÜCHER.example:80", "1.2.3.4:80:a:b@c.d:1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse(bytes.NewReader(text), "http")
		if err != nil {
			t.Fatal(err)
		}
		content := linesWithContent(text)
		told := map[int]int{}
		ids := map[string]int{}
		for _, a := range l.Accepted {
			told[a.Line]++
			sameAgain(t, a.Endpoint)
			if ids[a.Endpoint.ID()]++; ids[a.Endpoint.ID()] > 1 {
				t.Fatalf("%s is accepted twice", a.Endpoint.ID())
			}
		}
		for _, d := range l.Duplicates {
			told[d.Line]++
			if ids[d.Endpoint.ID()] != 1 || d.First >= d.Line {
				t.Fatalf("line %d repeats line %d, which was not accepted", d.Line, d.First)
			}
		}
		for _, r := range l.Rejected {
			told[r.Line]++
		}
		for line, n := range told {
			if n != 1 || !content[line] {
				t.Fatalf("line %d is told %d times, content %v", line, n, content[line])
			}
		}
		if len(told) != len(content) {
			t.Fatalf("%d lines told of %d", len(told), len(content))
		}
		silent(t, l)
	})
}

func sameAgain(t *testing.T, e endpoint.Endpoint) {
	again, err := endpoint.Parse(e.ID())
	if err != nil || again.ID() != e.ID() {
		t.Fatalf("%s reads back as %s: %v", e.ID(), again.ID(), err)
	}
}

// silent: a word that stands nowhere but in passwords and rejected lines is not told.
func silent(t *testing.T, l List) {
	for _, a := range l.Accepted {
		if strings.Contains(strings.ToLower(a.Endpoint.ID()), "hunter2") {
			return // part of a name here
		}
	}
	j, err := json.Marshal(l)
	if out := string(j) + fmt.Sprintf("%v %+v %#v", l, l, l); err != nil || strings.Contains(out, "hunter2") {
		t.Fatalf("a secret is told: %s %v", out, err)
	}
}

// linesWithContent numbers the lines that must be told: by another way than the reader's.
func linesWithContent(text []byte) map[int]bool {
	s := strings.TrimPrefix(string(text), "\xef\xbb\xbf")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	out := map[int]bool{}
	for i, line := range strings.Split(s, "\n") {
		if len(content([]byte(line))) > 0 || len(line) > MaxLineBytes {
			out[i+1] = true
		}
	}
	return out
}
