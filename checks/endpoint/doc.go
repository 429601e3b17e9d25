// Package endpoint names one way into one proxy: scheme, optional user, host, port.
//
// It decides how an endpoint is written (its id) and what is refused; it never
// resolves a name or opens a connection. The password is carried beside the id and
// leaves the package only through URL and Password: every other rendering of an
// Endpoint (fmt, JSON, a log field) is the id.
package endpoint
