package configs

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected messages in testdata/bad")

// testEnv holds what the files in testdata refer to.
func testEnv() Env {
	vars := map[string]string{
		"CREDENTIALS_DIRECTORY": "/credentials", "SECRET": "hunter2(", "EMPTY": "", "BRACES": "{hunter2}", "RISE": "3",
		"REDIS_USER": "worker",
	}
	files := map[string]string{
		"/credentials/redis-password": "hunter2\n", "/absolute/empty": "\n", "/absolute/token": "hunter2\r\n",
	}
	return Env{
		Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		ReadFile: func(path string) ([]byte, error) {
			if v, ok := files[path]; ok {
				return []byte(v), nil
			}
			return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
		},
	}
}

func TestBadFilesAreToldExactly(t *testing.T) {
	files, _ := filepath.Glob("testdata/bad/*.yaml")
	if len(files) < 20 {
		t.Fatalf("only %d bad files found", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(filepath.Base(file), source, testEnv())
			faults, ok := err.(*Faults)
			if !ok {
				t.Fatalf("error is %T %v, want *Faults", err, err)
			}
			got := faults.Error() + "\n"
			if strings.Contains(got, "hunter2") {
				t.Errorf("a secret is in the messages:\n%s", got)
			}
			expected := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(expected, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(expected)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestManyFaultsAreToldAtOnce(t *testing.T) {
	source, err := os.ReadFile("testdata/bad/many.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse("many.yaml", source, testEnv())
	faults := err.(*Faults).List
	kinds := map[string]bool{}
	for i, f := range faults {
		kinds[f.Msg] = true
		if i > 0 && f.Line < faults[i-1].Line {
			t.Errorf("line %d is told after line %d", f.Line, faults[i-1].Line)
		}
	}
	if len(kinds) < 10 {
		t.Errorf("%d different faults, want at least 10", len(kinds))
	}
}
