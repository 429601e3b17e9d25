//go:build race

package scheduler_test

// faultStep: the race detector makes the story eight times as long, so it is told for every
// tenth call only; without the detector for every one.
const faultStep = 10
