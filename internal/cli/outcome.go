package cli

import (
	"fmt"

	"proxyward/internal/cli/screen"
)

// outcome is what came of one endpoint that an operator acted on.
type outcome struct {
	Endpoint string `json:"endpoint"`
	Outcome  string `json:"outcome"`            // the command's word, or one of those below
	UntilMs  int64  `json:"until_ms,omitempty"` // pool time at which it ends by itself
}

const (
	unknown   = "unknown"   // not in the pool
	unchanged = "unchanged" // there was nothing to do
	busy      = "busy"      // being probed, or changing: try again
)

// outcomes are printed one by one up to this many, then counted.
const shownOutcomes = 20

// tellOutcomes prints what was done. order gives the words in the order they are told.
// Unknown and busy endpoints are told on standard error, and make the answer no.
func (a *app) tellOutcomes(pool string, all []outcome, asJSON bool, order ...string) error {
	counts := map[string]int{}
	for _, o := range all {
		counts[o.Outcome]++
		if asJSON {
			if err := a.printJSON(o); err != nil {
				return err
			}
		} else if o.Outcome != unknown && o.Outcome != busy && len(all) <= shownOutcomes {
			fmt.Fprintf(a.out, "%s  %s\n", o.Outcome, o.Endpoint)
		}
		if o.Outcome == unknown && counts[unknown] <= shownOutcomes {
			a.note("%s is not in pool %s", o.Endpoint, pool)
		}
		if o.Outcome == busy && counts[busy] <= shownOutcomes {
			a.note("%s is being probed: try again in a moment, or disable it first", o.Endpoint)
		}
	}
	if len(all) > shownOutcomes && !asJSON {
		for _, word := range order {
			if n := counts[word]; n > 0 {
				fmt.Fprintf(a.out, "%s  %s\n", word, screen.Count(int64(n), "endpoint"))
			}
		}
	}
	switch {
	case len(all) == 0:
		return sayNo("no endpoint of pool %s is like that: nothing done", pool)
	case counts[unknown]+counts[busy] > shownOutcomes:
		return sayNo("%d endpoints of pool %s are unknown or busy", counts[unknown]+counts[busy], pool)
	case counts[unknown]+counts[busy] > 0:
		return quietNo
	}
	return nil
}
