// Package health judges a Redis as a home for pools: what would hurt, why, and what to do.
//
// It decides from facts alone and asks nobody: no I/O, no clock. The store gathers the
// facts (Store.Examine); `proxyward doctor` prints what Judge finds.
package health
