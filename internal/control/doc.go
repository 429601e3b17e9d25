// Package control asks the target directly, without a proxy: the one place that may, and
// only where the operator allows it (guard.control: direct). It tells a target's bad
// certificate, error or silence from a proxy's.
//
// It runs the check's own transaction, so that the answer is judged as through a proxy;
// the tunnel is made in this process. The prober never imports it.
package control
