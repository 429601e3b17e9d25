package health

import (
	"fmt"
	"time"
)

// topology is what a cluster's node says of the whole.
func (n Node) topology() (found []Finding) {
	if n.Topology == nil {
		return nil
	}
	const mend = "redis-cli --cluster check HOST:PORT says which; start what is down, or give its slots to others"
	slots, bad := n.Topology["cluster_slots_assigned"], n.Topology["cluster_slots_fail"]
	if n.Topology["cluster_state"] != "ok" {
		found = append(found, hurts("cluster", "the cluster is down (cluster_state "+n.Topology["cluster_state"]+")", mend))
	}
	if slots != "16384" {
		found = append(found, hurts("cluster", "only "+slots+" of 16384 slots have a node: a check whose slot is not among them has no pool", mend))
	}
	if bad != "0" && bad != "" {
		found = append(found, hurts("cluster", bad+" slots are on nodes that failed", mend))
	}
	if found == nil {
		found = append(found, ok("cluster", "all slots are served, by %s masters", n.Topology["cluster_size"]))
	}
	return found
}

// apart is how far the clocks of servers may differ: a failover to one that is behind, or
// far ahead, looks like a leap of time.
const apart = 2 * time.Second

// group is what concerns no single server.
func (f Facts) group() (found []Finding) {
	if w := f.Sentinel; w != nil {
		found = append(found, w.judge())
	}
	var least, most *Node
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Away != "" {
			continue
		}
		if least == nil || n.Ahead < least.Ahead {
			least = n
		}
		if most == nil || n.Ahead > most.Ahead {
			most = n
		}
	}
	if least != nil && most.Ahead-least.Ahead > apart {
		found = append(found, warning("clock", fmt.Sprintf("the clock of %s is %s ahead of that of %s: a failover will look like a leap of time, and leases wait for one period",
			most.Addr, span(most.Ahead-least.Ahead), least.Addr), "set both by NTP"))
	}
	return found
}

func (w Watch) judge() Finding {
	const mend = "start the others, or correct redis.sentinel.addresses"
	switch {
	case w.NoQuorum != "":
		return hurts("sentinel", "the sentinels cannot fail over: "+w.NoQuorum, "at least a quorum of them, and more than half of all, must see each other")
	case w.Answered == 0:
		return warning("sentinel", "no sentinel says whether a failover could be done", mend)
	case w.Answered < w.Asked:
		return warning("sentinel", fmt.Sprintf("%d of %d sentinels answer", w.Answered, w.Asked), mend)
	}
	return ok("sentinel", "of %d sentinels all answer, and could fail over", w.Answered)
}

// span is a duration for people.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
