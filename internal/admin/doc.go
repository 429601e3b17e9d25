// Package admin is the HTTP interface of a running daemon: whether it is well, metrics, and
// what the commands show and do, as JSON; docs/admin.md describes it.
//
// It decides who may ask: from this machine anybody who reaches the socket, unless a token
// is set; from others only with a token and TLS; from a foreign web page nobody. What pools
// look like and what orders do is internal/operate's, as it is for the commands. It never
// shows a password, and it never slows the scheduler: all that it does is bounded. The
// command `run` starts it.
package admin
