//go:build !race

package scheduler_test

const faultStep = 1
