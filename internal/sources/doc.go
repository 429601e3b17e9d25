// Package sources reads lists of proxies: which lines name an endpoint, which name one
// that was named before, and why each other line was refused.
//
// It never resolves a name, never fetches a URL, and no message of it holds a password or
// any part of a line that it refused. The scheduler calls it for the lists of a check, the
// command `import` for a file.
package sources
