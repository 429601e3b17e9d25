package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is proxyward, built once for all tests.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "proxyward-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "proxyward")
	if out, err := exec.Command("go", "build", "-o", binary, "proxyward").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build proxyward: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
