//go:build race

package testenv

// Race reports whether the race detector is on: it makes everything some eight times as slow.
const Race = true
