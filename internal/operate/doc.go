// Package operate is what an operator sees of pools and does to them: how a check stands,
// its endpoints by filter, the story of one, and recheck, disable, enable and forget.
//
// The commands and the HTTP interface both call it, so that they say and do the same; words
// for people and exit statuses are the commands', statuses of HTTP the interface's. It
// judges no endpoint, and nothing that it returns holds a password.
package operate
