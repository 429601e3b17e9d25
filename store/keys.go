package store

import "proxyward/store/record"

// keys are the names of one check's keys. They share one hash tag, so that every script
// runs on one node of a Cluster.
type keys struct{ tag string }

func keysOf(prefix, check string) keys { return keys{prefix + ":{" + check + "}:"} }

func (k keys) eligible() string  { return k.tag + "eligible" }
func (k keys) endpoints() string { return k.tag + "endpoints" }
func (k keys) urls() string      { return k.tag + "urls" }
func (k keys) leases() string    { return k.tag + "leases" }
func (k keys) tokens() string    { return k.tag + "tokens" }
func (k keys) admitted() string  { return k.tag + "admitted" }
func (k keys) events() string    { return k.tag + "events" }
func (k keys) counts() string    { return k.tag + "counts" }
func (k keys) daemons() string   { return k.tag + "daemons" }
func (k keys) clock() string     { return k.tag + "clock" }
func (k keys) budget() string    { return k.tag + "budget" }
func (k keys) meta() string      { return k.tag + "meta" }
func (k keys) holds() string     { return k.tag + "holds" } // id to the pool time an operator's hold ends
func (k keys) guard() string     { return k.tag + "guard" }
func (k keys) reports() string   { return k.tag + "reports" }
func (k keys) reported() string  { return k.tag + "reported" } // id to what its reports came to so far
func (k keys) suspects() string  { return k.tag + "suspects" } // id to the pool time from which that is worth nothing
func (k keys) jobs() string      { return k.tag + "jobs" }     // token of a live job to the pool time at which it is abandoned
func (k keys) inflight() string  { return k.tag + "inflight" } // eligible id to its live jobs
func (k keys) engaged() string   { return k.tag + "engaged" }  // id that is not eligible to its live jobs, where it has any
func (k keys) wake() string      { return k.tag + "wake" }

func (k keys) lane(l record.Lane) string { return k.tag + "due:" + string(l) }

func (k keys) lanes() []string {
	var names []string
	for _, l := range record.Lanes {
		names = append(names, k.lane(l))
	}
	return names
}

// all lists every key a check can have, for purge.
func (k keys) all() []string {
	return append(k.lanes(), k.eligible(), k.endpoints(), k.urls(), k.leases(), k.tokens(), k.admitted(),
		k.guard(), k.jobs(), k.inflight(), k.engaged(), k.reports(), k.reported(), k.suspects(), k.events(), k.counts(), k.daemons(),
		k.clock(), k.budget(), k.meta(), k.holds())
}
