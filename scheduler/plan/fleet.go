package plan

import "fmt"

// Process is what the checks of one daemon share.
type Process struct {
	Embedded    bool   // Redis runs in the daemon itself
	Prober      int    // prober.concurrency
	Descriptors uint64 // files and sockets that the process may have open; 0: not known
}

// What a process is known to bear, and what it needs beside its probes: connections to
// Redis, lists, logs.
const (
	embeddedMost     = 3000
	otherDescriptors = 100
)

// Warnings looks at what the checks of a daemon share.
func (p Process) Warnings(checks []Settings) (found []Warning) {
	endpoints, wanted := 0, 0
	for _, s := range checks {
		endpoints, wanted = endpoints+s.Endpoints, wanted+s.Concurrency
	}
	if p.Embedded && endpoints > embeddedMost {
		found = append(found, Warning{Code: "embedded_too_small", Fatal: true,
			What: fmt.Sprintf("the embedded Redis is good for some %s endpoints, not for %s: it sorts a whole pool for each answer, and keeps nothing", count(embeddedMost), count(endpoints)),
			Mend: "run a redis-server and set redis.url to it"})
	}
	if need := min(p.Prober, wanted) + otherDescriptors; p.Descriptors > 0 && p.Descriptors < uint64(need) {
		found = append(found, Warning{Code: "too_few_descriptors", Fatal: true,
			What: fmt.Sprintf("%d probes in flight need some %d open files, and this process may have %d", need-otherDescriptors, need, p.Descriptors),
			Mend: fmt.Sprintf("raise the limit (LimitNOFILE= of the unit, ulimit -n) to %d or more, or lower prober.concurrency", need)})
	}
	if wanted > p.Prober {
		found = append(found, Warning{Code: "slots_shared",
			What: fmt.Sprintf("the checks' limits.concurrency add up to %d, but prober.concurrency is %d: while all are busy each gets an equal share", wanted, p.Prober),
			Mend: fmt.Sprintf("set prober.concurrency to %d, or lower the checks' limits", wanted)})
	}
	return found
}
