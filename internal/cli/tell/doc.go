// Package tell puts what the pool knows of an endpoint into words: where it stands, why,
// what happens next, and what a person can do about it.
//
// It decides nothing and reads nothing: it is handed entries and verdicts. The commands
// and the demo speak through it, so that they say the same.
package tell
