package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pkg is what `go list -json` says of a package.
type pkg struct {
	ImportPath, Doc, Dir string
	GoFiles, Imports     []string
}

func packages(t *testing.T) (list []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json", "proxyward/...")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(out); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if err := cmd.Wait(); err != nil || len(list) == 0 {
		t.Fatal("go list:", err)
	}
	return list
}

// may says what of ours each part of the house imports: one way through it.
var may = map[string]string{
	"":                  "internal/cli",
	"internal/cli":      "internal/cli internal/admin internal/metrics internal/operate internal/witness internal/demo internal/embedded internal/sources configs scheduler prober store checks",
	"internal/admin":    "internal/operate internal/sources scheduler store",
	"internal/metrics":  "scheduler store checks/verdict",
	"internal/operate":  "internal/cli/tell internal/sources scheduler store checks/endpoint",
	"internal/demo":     "internal/embedded internal/zoo internal/cli/screen internal/cli/tell configs scheduler prober store checks",
	"internal/witness":  "scheduler/suspect store",
	"internal/embedded": "",
	"internal/files":    "",
	"internal/sources":  "checks/endpoint",
	"internal/zoo":      "",
	"internal/testenv":  "checks/endpoint",
	"internal/e2e":      "",
	"internal/house":    "",
	"examples/go":       "examples/go",
	"configs":           "scheduler checks internal/files",
	"scheduler":         "scheduler/policy scheduler/guard scheduler/suspect prober store checks internal/sources",
	"scheduler/policy":  "store/record checks/verdict",
	"scheduler/guard":   "checks/verdict",
	"scheduler/plan":    "scheduler/policy store/record checks/verdict",
	"scheduler/suspect": "store/record",
	"prober":            "checks",
	"store":             "store checks internal/files",
	"store/record":      "",
	"checks":            "checks internal/files",
	"checks/verdict":    "",
	"checks/endpoint":   "",
}

// part is the longest named part of the house that a package lies in.
func part(path string) string {
	for p := path; p != "."; p = filepath.Dir(p) {
		if _, named := may[p]; named {
			return p
		}
	}
	return path
}

func TestImportsRunOneWay(t *testing.T) {
	for _, p := range packages(t) {
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, "proxyward"), "/")
		allowed, named := may[part(from)]
		if from == "" {
			allowed, named = may[""], true
		}
		if !named {
			t.Errorf("%s: no rule says what it may import", p.ImportPath)
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, "proxyward/")
			if ours && !allows(allowed, to) {
				t.Errorf("%s imports %s: it may import %q of ours", p.ImportPath, imported, allowed)
			}
		}
	}
}

func allows(list, to string) bool {
	for _, p := range strings.Fields(list) {
		if to == p || strings.HasPrefix(to, p+"/") {
			return true
		}
	}
	return false
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && len(p.Doc) < 40 {
			t.Errorf("%s: no package documentation", p.ImportPath)
		}
	}
}

func TestTheProductDoesNotCarryTestingAlong(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "proxyward").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if dep == "testing" || dep == "proxyward/internal/testenv" {
			t.Errorf("the binary contains %s", dep)
		}
	}
}
