package cli

import (
	"fmt"

	"proxyward/internal/cli/screen"
	"proxyward/internal/operate"
)

// outcomes are printed one by one up to this many, then counted.
const shownOutcomes = 20

// tellOutcomes prints what was done. order gives the words in the order they are told.
// Unknown and operate.Busy endpoints are told on standard error, and make the answer no.
func (a *app) tellOutcomes(pool string, all []operate.Outcome, asJSON bool, order ...string) error {
	counts := map[string]int{}
	for _, o := range all {
		counts[o.Outcome]++
		if asJSON {
			if err := a.printJSON(o); err != nil {
				return err
			}
		} else if o.Outcome != operate.Unknown && o.Outcome != operate.Busy && len(all) <= shownOutcomes {
			fmt.Fprintf(a.out, "%s  %s\n", o.Outcome, o.Endpoint)
		}
		if o.Outcome == operate.Unknown && counts[operate.Unknown] <= shownOutcomes {
			a.note("%s is not in pool %s", o.Endpoint, pool)
		}
		if o.Outcome == operate.Busy && counts[operate.Busy] <= shownOutcomes {
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
	case counts[operate.Unknown]+counts[operate.Busy] > shownOutcomes:
		return sayNo("%d endpoints of pool %s are operate.Unknown or busy", counts[operate.Unknown]+counts[operate.Busy], pool)
	case counts[operate.Unknown]+counts[operate.Busy] > 0:
		return quietNo
	}
	return nil
}
