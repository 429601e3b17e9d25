// Package checks runs one whole transaction of a check through one endpoint, stage by
// stage, and says in a verdict what happened.
//
// It never connects to the target directly, never reads proxy settings from the
// environment, never reuses a connection, and knows nothing of pools, Redis or time of day.
// The prober calls it, once per probe.
package checks
