// Package verdict holds the words in which a probe speaks: stages, reasons, blame.
//
// It decides what each word means and how a verdict is written down; it never makes a
// request. The transaction in package checks fills verdicts in, the policy judges them.
package verdict
