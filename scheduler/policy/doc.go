// Package policy is the machine that decides what one verdict does to one endpoint.
//
// It is a pure function from record, result and policy to a transition: no clock, no
// Redis, no logger, no goroutine. The scheduler calls it for every result, the commands
// and the source refresh for everything an operator or a list says. An edge that is not
// drawn here is an error:
//
//	new       ── enrolled ───────────────────────────▶ candidate
//	candidate ── rise passes ────────────────────────▶ eligible
//	candidate ── fails ──────────────────────────────▶ cooling
//	eligible  ── fall failures ──────────────────────▶ cooling
//	cooling   ── deadline over, trickle admits ──────▶ permitted
//	cooling   ── guard opens ────────────────────────▶ eligible
//	permitted ── rise passes ────────────────────────▶ eligible
//	permitted ── fails ──────────────────────────────▶ cooling
//	candidate ── operator, or a permanent condition ─▶ disabled
//	eligible  ── operator, or a permanent condition ─▶ disabled
//	cooling   ── operator, or a permanent condition ─▶ disabled
//	permitted ── operator, or a permanent condition ─▶ disabled
//	disabled  ── last hold goes ─────────────────────▶ candidate
package policy
