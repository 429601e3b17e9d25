// Package zoo holds small proxies and targets on loopback, good ones and ones that
// misbehave in the ways real ones do. Tests and the demo run probes against them.
//
// It decides what a peer says on the wire, byte by byte where that matters. Of checks and
// verdicts it knows the words alone: Behaviours lists what peers do with the verdict that
// each must get. One family of behaviour stands in one file.
package zoo
