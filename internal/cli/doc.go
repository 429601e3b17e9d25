// Package cli is proxyward's command line: it reads flags and the configuration, opens
// Redis, calls the package that does the work, and prints what came of it.
//
// It decides exit statuses and words, nothing else: 0 yes, 1 the answer is no, 2 the input
// or the surroundings are wrong. Data goes to standard output, everything else to standard
// error. No output holds a password, save the URL that `allocate` is there to print.
package cli
