// Package configs reads proxyward's YAML and decides whether it can be run: every fault of
// a file is found in one go and told with its line, its column, what is wrong and what would
// be right.
//
// One table of fields (the files named fields_*.go) drives the decoder, the JSON schema and
// the defaults. The package never opens a connection, never asks a resolver, and never puts
// the value of a secret, of a reference (${env:…}, ${file:…}) or of a URL's password into a
// message. The commands call it; the scheduler runs what it returns.
package configs
