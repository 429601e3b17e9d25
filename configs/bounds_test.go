package configs

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestHostileFilesAreRefusedQuickly(t *testing.T) {
	bomb := "checks:\n  - {name: a, steps: &a [" + strings.Repeat("{},", 100) + "]}\n" + strings.Repeat("  - {steps: *a}\n", 250)
	var wide strings.Builder
	for i := range 17_000 {
		fmt.Fprintf(&wide, "k%d: 1\n", i)
	}
	cases := map[string]struct{ source, want string }{
		"deep in flow style":    {"a: " + strings.Repeat("[", 20_000), "nested"},
		"deep and closed":       {"a: " + strings.Repeat("{a: ", 10_000) + "1" + strings.Repeat("}", 10_000), "nested"},
		"deep in one line":      {strings.Repeat("- ", 20_000), "nested"},
		"deep by indentation":   {deepBlock(500), "nested"},
		"anchors on anchors":    {"a: " + strings.Repeat("&a ", 10_000), "nested"},
		"tags on tags":          {"a: " + strings.Repeat("!a ", 10_000), "tags"},
		"keys of keys":          {strings.Repeat("? ", 30_000), "complex keys"},
		"wide":                  {wide.String(), "over 50000 words"},
		"aliases multiplied":    {bomb, "over 20000 values"},
		"every alias an anchor": {laughs(), "unknown field"},
		"one long scalar":       {"a: \"" + strings.Repeat("x", 1<<20) + "\"", "over 1 MiB"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			_, err := Parse("f", []byte(c.source), testEnv())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %.200v, want one with %q", err, c.want)
			}
			if lines := strings.Count(fmt.Sprint(err), "\n"); lines > maxFaults {
				t.Errorf("%d lines of faults", lines)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func deepBlock(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func laughs() string {
	s := "l0: &l0 [ha, ha]\n"
	for i := range 40 {
		s += fmt.Sprintf("l%d: &l%d [*l%d, *l%d, *l%d, *l%d]\n", i+1, i+1, i, i, i, i)
	}
	return s
}

func TestBOMAndCRLF(t *testing.T) {
	c, err := Parse("f", []byte("\xef\xbb\xbf"+strings.ReplaceAll(least, "\n", "\r\n")), testEnv())
	if err != nil || c.Checks[0].Name != "a" {
		t.Errorf("%v %+v", err, c)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		if len(source) > 1<<14 {
			return
		}
		c, err := Parse("f", source, testEnv())
		if (c == nil) == (err == nil) {
			t.Fatalf("configuration %v and error %v", c, err)
		}
		if err == nil {
			for _, k := range c.Checks {
				if k.Transaction == nil || k.Timeout <= 0 || k.Fingerprint == "" {
					t.Fatalf("incomplete: %+v", k)
				}
			}
			return
		}
		if _, ok := err.(*Faults); !ok {
			t.Fatalf("%T %v", err, err)
		}
		// The word is in what the references stand for, and nowhere else.
		if !strings.Contains(string(source), "hunter2") && strings.Contains(err.Error(), "hunter2") {
			t.Fatalf("a secret is told:\n%s", err)
		}
	})
}
