// Package guard tells an outage of the target, or of our own network, from proxies that
// fail: by the last results of endpoints that were eligible when they were claimed.
//
// It decides only whether the guard opens or closes, and whose results count. It is pure:
// no clock, no Redis, no goroutine. The scheduler keeps the results in the store and acts.
package guard
