// Package house holds the rules of the house as tests: who may import whom, and that
// every package says what it is for. It has no code of its own.
package house
