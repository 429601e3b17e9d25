package health

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Round trips that matter: each claim and each commit waits for one, and a call ends after
// three seconds.
const (
	slowMedian, badMedian = 50 * time.Millisecond, 500 * time.Millisecond
	slowWorst, badWorst   = 500 * time.Millisecond, 2 * time.Second
)

func (n Node) trips() Finding {
	if len(n.Trips) == 0 {
		return warning("latency", "no round trip could be measured", "")
	}
	sorted := slices.Sorted(slices.Values(n.Trips))
	median, worst := sorted[len(sorted)/2], sorted[len(sorted)-1]
	words := fmt.Sprintf("of %d round trips the median is %s, the worst %s", len(sorted), span(median), span(worst))
	const mend = "put Redis nearer to the daemons; see SLOWLOG GET, and what else uses this server"
	switch {
	case median >= badMedian || worst >= badWorst:
		return hurts("latency", words+": calls end after 3 s, and claims and commits wait for each", mend)
	case median >= slowMedian || worst >= slowWorst:
		return warning("latency", words, mend)
	}
	return ok("latency", "%s", words)
}

// astray is how far a clock may go otherwise than ours while we look: less is slewing, or
// the round trip.
const astray = 250 * time.Millisecond

func (n Node) clock() Finding {
	if n.Leap.Abs() > astray {
		return hurts("clock", "the server's clock leapt by "+signed(n.Leap)+" while we looked: each leap holds leases back for one period",
			"let NTP slew it instead of setting it, and see that nothing else sets it")
	}
	if n.Ahead.Abs() > 5*time.Second {
		return ok("clock", "the server's clock differs from this machine's by %s: nothing depends on this machine's", signed(n.Ahead.Round(time.Second)))
	}
	return ok("clock", "the server's clock runs as ours does")
}

func signed(d time.Duration) string {
	if d < 0 {
		return "-" + span(-d)
	}
	return "+" + span(d)
}

func (n Node) rights(user string) (found []Finding) {
	if user == "" {
		user = "default"
	}
	if len(n.Lacks) > 0 {
		words := "user " + user + " may not run " + strings.Join(n.Lacks, " ")
		if len(n.Halts) > 0 {
			words += ": a script that needs one of them stops half-way, and leaves a pool that must be mended"
		}
		found = append(found, hurts("acl", words,
			"allow it +"+strings.Join(n.Lacks, " +")+" (configs/redis-acl.conf has all that is needed)"))
	}
	if len(n.LockedKeys) > 0 {
		found = append(found, hurts("acl", "user "+user+" may not use the keys "+strings.Join(n.LockedKeys, " "),
			"allow it ~PREFIX:{*}:* (and &PREFIX:{*}:wake), as configs/redis-acl.conf does"))
	}
	if len(n.Unknown) > 0 {
		found = append(found, hurts("commands", "the server does not have "+strings.Join(n.Unknown, " "), "use Redis "+Oldest+" or newer, or Valkey; a service must not hide commands"))
	}
	if found == nil {
		found = append(found, ok("acl", "user %s may do all that a daemon does", user))
	}
	return found
}

func (n Node) scripts() Finding {
	switch {
	case n.Loaded < 0:
		return ok("scripts", "whether it knows the scripts may not be asked; each is sent when it is missing")
	case n.Loaded < n.Scripts:
		return ok("scripts", "it knows %d of %d scripts: usual after a restart, a failover or SCRIPT FLUSH; each is sent when it is missing", n.Loaded, n.Scripts)
	}
	return ok("scripts", "it knows all %d scripts", n.Scripts)
}
