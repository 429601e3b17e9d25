// Package checks runs one whole transaction of a check through one endpoint, stage by
// stage, and says in a verdict what happened.
//
// It never connects to the target directly, never reads proxy settings from the
// environment, never reuses a connection, and knows nothing of pools, Redis or time of day.
// The prober calls it, once per probe.
//
//	endpoint   what is asked of it                     who resolves the target's name
//	http       http: the request itself, absolute;     the proxy
//	           https: CONNECT, then TLS to the target
//	https      the same inside TLS to the proxy        the proxy
//	socks4     SOCKS4 CONNECT to an IPv4 address       this machine
//	socks4a    SOCKS4 CONNECT to a name                the proxy
//	socks5     SOCKS5 CONNECT to an address            this machine
//	socks5h    SOCKS5 CONNECT to a name                the proxy
//
// A probe runs on the goroutine of its caller, on one connection for each request, which
// is closed with a reset so that its port is free at once. Every stage has a deadline that
// counts from its begin, and the whole has one; whatever a peer sends is bounded. What went
// wrong first is an event of the table in package verdict, and becomes the verdict.
package checks
