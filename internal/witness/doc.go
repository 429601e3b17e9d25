// Package witness judges whether the workers of a pool keep their contract (docs/workers.md):
// from what can be seen in the pool as it changes, and, on a test server, from every command
// that the server executes.
//
// It only reads, and never tells a password. What it saw broken was broken; what it did not
// see may have happened between two looks. A request made without an allocation leaves no
// trace in Redis: nobody can see that here.
package witness
