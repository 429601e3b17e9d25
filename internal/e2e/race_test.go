//go:build race

package e2e_test

// With the race detector in the tests the binary has it too; it needs much more memory.
var (
	buildFlags       = []string{"-race"}
	memoryMost int64 = 1 << 30
)
