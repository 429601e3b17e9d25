// Package metrics says in Prometheus' words what the daemon does and how the pools stand.
//
// What happens is told by the scheduler (Daemon.Watch) and by the store (Store.Watch); how
// a pool stands is read when somebody asks, at most once a second. It decides nothing. No
// label carries an endpoint: their number has no bound. docs/metrics.md is made from the
// table of families here.
package metrics
