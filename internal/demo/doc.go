// Package demo shows proxyward at work on one machine: an embedded Redis, proxies that
// misbehave on a schedule, a target, a worker, and the daemon that `run` runs, with a table
// of who is where and why.
//
// Everything listens on the loopback interface and ends with Run. The command `demo`
// calls it.
package demo
