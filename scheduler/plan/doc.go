// Package plan says what follows from a check's settings and the size of its pool, before
// any daemon runs: the load on the target, how long a dead endpoint can go unnoticed, how
// long an outage's endpoints take to come back, what Redis needs, and which settings cannot
// work together.
//
// It is arithmetic and a small simulation of the trickle: no Redis, no clock, no file. The
// command `plan` calls it; docs/plan.md says each formula in words.
package plan
