package health

import (
	"cmp"
	"fmt"
	"slices"
)

// Judge says what it makes of the facts, the worst first.
func Judge(f Facts) []Finding {
	var all []Finding
	for _, n := range f.Nodes {
		for _, found := range f.node(n) {
			all = merge(all, at(found, n, f))
		}
	}
	all = append(all, f.group()...)
	for _, p := range f.Pools {
		for _, found := range p.judge(f.Owned) {
			found.Check = p.Name
			all = append(all, found)
		}
	}
	slices.SortStableFunc(all, func(x, y Finding) int { return cmp.Compare(rank(x.Severity), rank(y.Severity)) })
	return all
}

// Worst is the worst severity among findings.
func Worst(findings []Finding) Severity {
	worst := OK
	for _, f := range findings {
		if rank(f.Severity) < rank(worst) {
			worst = f.Severity
		}
	}
	return worst
}

func rank(s Severity) int { return slices.Index([]Severity{Hurts, Warning, OK}, s) }

// at says where something was found, where there is more than one place.
func at(found Finding, n Node, f Facts) Finding {
	if len(f.Nodes) > 1 {
		found.Nodes = []string{n.Addr}
	}
	return found
}

// merge adds what is true of one more server; what was said of others is not repeated.
func merge(all []Finding, one Finding) []Finding {
	for i, f := range all {
		if f.Topic == one.Topic && f.Severity == one.Severity && f.What == one.What && f.Mend == one.Mend {
			all[i].Nodes = append(all[i].Nodes, one.Nodes...)
			return all
		}
	}
	return append(all, one)
}

// node is what there is to say of one server.
func (f Facts) node(n Node) []Finding {
	if n.Away != "" {
		return []Finding{hurts("reach", "the server does not answer: "+n.Away, "start it, or take it out of the cluster")}
	}
	found := []Finding{n.version()}
	if n.whole() {
		found = append(found, f.role(n)...)
		found = append(found, n.eviction(), n.persistence(), n.memory())
		found = append(found, n.saving()...)
	}
	found = append(found, n.topology()...)
	found = append(found, n.trips(), n.clock())
	found = append(found, n.rights(f.User)...)
	return append(found, n.scripts())
}

func hurts(topic, what, mend string) Finding {
	return Finding{Severity: Hurts, Topic: topic, What: what, Mend: mend}
}

func warning(topic, what, mend string) Finding {
	return Finding{Severity: Warning, Topic: topic, What: what, Mend: mend}
}

func ok(topic, format string, args ...any) Finding {
	return Finding{Severity: OK, Topic: topic, What: fmt.Sprintf(format, args...)}
}

// Fitness says what stops a daemon from running here, or should be told before it does: a
// policy that evicts keys, and commands that its scripts need and its user may not run.
func Fitness(f Facts) (evicts, lacks, unsure []Finding) {
	for _, n := range f.Nodes {
		if n.Away != "" {
			continue
		}
		switch found := n.eviction(); found.Severity {
		case Hurts:
			evicts = merge(evicts, at(found, n, f))
		case Warning:
			unsure = merge(unsure, at(found, n, f))
		}
		if len(n.Halts) > 0 {
			lacks = merge(lacks, at(n.rights(f.User)[0], n, f))
		}
	}
	return evicts, lacks, unsure
}
