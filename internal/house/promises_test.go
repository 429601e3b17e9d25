package house

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	testName = regexp.MustCompile(`\bTest[A-Z]\w*`)
	testFunc = regexp.MustCompile(`(?m)^func (Test[A-Z]\w*)\(`)
)

// A promise whose test was renamed or removed is no promise any more.
func TestEveryPromiseHasItsTest(t *testing.T) {
	text, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, p := range packages(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range testFunc.FindAllSubmatch(code, -1) {
				there[string(f[1])] = true
			}
		}
	}
	named := testName.FindAllString(string(text), -1)
	if len(named) < 40 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, name := range named {
		if !there[name] {
			t.Errorf("docs/reliability.md names %s, which is not there", name)
		}
	}
}
