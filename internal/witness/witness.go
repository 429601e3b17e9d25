package witness

import (
	"cmp"
	"slices"
	"sync"
)

// Rule is one part of the workers' contract.
type Rule string

// The rules. The last four are seen by MONITOR only.
const (
	Removed     Rule = "removed-member" // nobody puts into the eligible set who is not eligible
	Lowered     Rule = "lowered-score"  // a score only grows, by whole numbers
	BadReport   Rule = "bad-report"     // reports are well formed, and never name a password
	Counts      Rule = "live-jobs"      // live jobs are counted by the scripts alone
	OwnWrite    Rule = "own-write"      // no worker writes the sets but by the scripts
	ReadWrite   Rule = "read-then-write"
	OtherScript Rule = "other-script" // nor by a script of its own
	NoPause     Rule = "no-pause"     // an empty pool is not asked without a pause
)

// Finding is a rule that was broken.
type Finding struct {
	Rule  Rule   `json:"rule"`
	Who   string `json:"who,omitempty"` // an endpoint, or a client's address
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Verdict is what was seen.
type Verdict struct {
	Allocations int64     `json:"allocations"` // seen; without MONITOR as far as looks at up to 1,000 members tell
	Reports     int       `json:"reports"`
	Abandoned   int       `json:"abandoned"` // jobs that ended by their time limit: their workers died, or never release
	Nil         int64     `json:"nil"`       // answers of an empty pool; seen by MONITOR only
	Exact       bool      `json:"exact"`     // MONITOR was on
	Findings    []Finding `json:"findings"`
	Kept        bool      `json:"kept"` // allocations were seen, and nothing was broken
}

// findings gathers what was broken, each once. Safe for concurrent use.
type findings struct {
	mu  sync.Mutex
	all map[Finding]int
}

// most bounds how many different findings are told.
const most = 100

func (f *findings) add(rule Rule, who, what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[Finding]int{}
	}
	key := Finding{Rule: rule, Who: who, What: what}
	if f.all[key] == 0 && len(f.all) >= most {
		return
	}
	f.all[key]++
}

func (f *findings) sorted() []Finding {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []Finding{}
	for key, n := range f.all {
		key.Count = n
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Who, b.Who), cmp.Compare(a.What, b.What))
	})
	return list
}
