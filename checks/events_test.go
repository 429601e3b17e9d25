package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"proxyward/checks/verdict"
)

// Every event that this package names is in the table, and every row of the table is named
// here: a slip of the pen would make a verdict that blames nobody.
func TestEveryEventIsNamedInTheTable(t *testing.T) {
	known := map[string]bool{}
	for _, e := range verdict.Table {
		known[e.Name] = false
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?:fail\(|failAt\([^"\n]*?|found\(|finding\{)"(\w+)"`)
	word := regexp.MustCompile(`"(\w+)"`)
	for _, f := range files {
		if ok, _ := filepath.Match("*_test.go", f); ok {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			if _, ok := known[m[1]]; !ok {
				t.Errorf("%s names event %q, which the table does not have", f, m[1])
			}
		}
		for _, m := range word.FindAllStringSubmatch(string(text), -1) {
			if _, ok := known[m[1]]; ok {
				known[m[1]] = true
			}
		}
	}
	for name, used := range known {
		if !used {
			t.Errorf("no code names event %q", name)
		}
	}
}

// Every reply that a proxy can give leads to a row at the stage where it is judged.
func TestEveryMappingLeadsToARow(t *testing.T) {
	var names []string
	for _, m := range []map[string]string{proxyErrors, squidErrors, errnos} {
		for _, event := range m {
			names = append(names, event)
		}
	}
	for _, event := range statuses {
		names = append(names, event)
	}
	names = append(names, socksReplies[1:]...)
	for _, p := range phrases {
		if p.event != "no_exit" {
			names = append(names, p.event)
		}
	}
	for _, event := range names {
		if _, ok := verdict.Lookup(verdict.Tunnel, event); !ok {
			t.Errorf("no row at tunnel for %q", event)
		}
	}
}
