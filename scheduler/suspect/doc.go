// Package suspect decides what workers' reports come to: whether a report counts at all,
// whether the bad ones about an endpoint are enough to have it probed soon, and whether the
// good ones are enough to put its recheck off.
//
// It is pure: no clock, no Redis, no logger. Nothing a worker writes is trusted: not its
// clock, not its name, not its words. A report alone never changes an endpoint's state. The
// scheduler reads the stream, asks this package, and has the store carry out the answer.
package suspect
