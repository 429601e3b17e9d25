// Package prober runs leased probes: so many at once, each within its deadline, a panic
// in one contained to it. It never decides what a verdict means.
package prober
