// Package store keeps pools in Redis: records, the eligible set, lanes, leases, counts.
//
// Go decides, Lua moves: each script in lua/ does one bounded move on keys declared in
// KEYS and never parses a record. The store never judges an endpoint and never makes a
// probe. The scheduler claims and commits through it; the commands read and amend.
package store
