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

func TestMain(m *testing.M) {
	if how := os.Getenv(loneWorker); how != "" {
		os.Exit(workAlone(how))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "proxyward-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("GORACE", "atexit_sleep_ms=0") // instead of a second at the end of every command
	os.Unsetenv("REDISCLI_AUTH")             // the commands of redis-cli in here name their own
	binary = filepath.Join(dir, "proxyward")
	args := append(append([]string{"build"}, buildFlags...), "-o", binary, "proxyward")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build proxyward: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
