//go:build !race

package e2e_test

var (
	buildFlags []string

	// memoryMost is what a process may hold that reads a line of 200 MB.
	memoryMost int64 = 100 << 20
)
