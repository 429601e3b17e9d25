// Package zoo holds small proxies and targets on loopback, good ones and ones that
// misbehave in the ways real ones do. Tests and the demo run probes against them.
//
// It decides what a peer says on the wire, byte by byte where that matters; it knows
// nothing of checks, verdicts or pools. One family of behaviour stands in one file.
package zoo
