package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// onTheWall is code that asks a time for its date: what the wall clock says of it.
var onTheWall = regexp.MustCompile(`\.Unix(Milli|Micro|Nano)?\(|\.Round\(0\)|time\.(Unix|Date|Parse)\(`)

func TestNoDeadlineFollowsADaemonsWallClock(t *testing.T) {
	files := 0
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, "proxyward/")
		if first, _, _ := strings.Cut(path, "/"); first != "store" && first != "scheduler" && first != "prober" {
			continue
		}
		for _, name := range p.GoFiles {
			if path == "scheduler" && name == "wall.go" { // it compares the two clocks
				continue
			}
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files++
			for i, line := range strings.Split(string(text), "\n") {
				if onTheWall.MatchString(line) && !strings.HasSuffix(line, "// the server's clock") {
					t.Errorf("%s/%s:%d asks the wall clock: %s", path, name, i+1, strings.TrimSpace(line))
				}
			}
		}
	}
	if files < 30 {
		t.Errorf("only %d files read", files)
	}
}
