// Package record holds what the pool remembers of one endpoint: its state, why, since
// when, and its counts by class of failure.
//
// It decides how a record is written as JSON and which place each state stands in. It
// never talks to Redis and never judges: the store moves records, the policy makes them.
package record
