// Package scheduler keeps one pool per check healthy: it fires ticks, claims what is due,
// hands it to the prober, judges the verdicts by policy and commits what follows; and it
// refreshes the lists that endpoints come from.
//
// It owns no state that another daemon could miss: everything lasting is in the store. It
// never parses YAML and never speaks a proxy protocol. The command `run` starts it.
package scheduler
