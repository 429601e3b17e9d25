// Package embedded runs a Redis inside the process (miniredis) for trying proxyward out
// with nothing else installed: workers and redis-cli reach it like any other.
//
// It keeps nothing: when the process ends, the pool is gone. It is good for up to about
// 3,000 endpoints. The commands `run` and `demo` start it; production uses a real Redis.
package embedded
