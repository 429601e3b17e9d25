package operate

import (
	"context"
	"time"

	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// Outcome is what came of one endpoint that an operator acted on.
type Outcome struct {
	Endpoint string `json:"endpoint"`
	Outcome  string `json:"outcome"`            // the order's word, or one of those below
	UntilMs  int64  `json:"until_ms,omitempty"` // pool time at which it ends by itself
}

// The outcomes beside the orders' own words.
const (
	Unknown   = "unknown"   // not in the pool
	Unchanged = "unchanged" // there was nothing to do
	Busy      = "busy"      // being probed, or changing: try again
)

// askedWords are the outcomes of Recheck.
var askedWords = map[store.Asked]string{
	store.Queued:   "queued",
	store.Waiting:  "waiting",
	store.Probing:  "probing",
	store.Trickles: "trickles",
	store.Nowhere:  Unknown,
}

// Recheck asks for probes: queued, waiting, probing, trickles or disabled.
func Recheck(ctx context.Context, p *store.Pool, priority int, ids []string) ([]Outcome, error) {
	asked, err := p.Recheck(ctx, priority, ids)
	if err != nil {
		return nil, err
	}
	all := make([]Outcome, len(ids))
	var nowhere []string
	for i, id := range ids {
		all[i] = Outcome{Endpoint: id, Outcome: askedWords[asked[i]]}
		if asked[i] == store.Nowhere {
			nowhere = append(nowhere, id)
		}
	}
	entries, _, err := p.Look(ctx, nowhere)
	known := map[string]bool{}
	for _, e := range entries {
		known[e.ID] = e.Known()
	}
	for i := range all {
		if all[i].Outcome == Unknown && known[all[i].Endpoint] {
			all[i].Outcome = "disabled"
		}
	}
	return all, err
}

// CheckPriority says what is wrong with a priority.
func CheckPriority(n int) error {
	if n < 0 || n > store.MaxPriority {
		return wrong("priority %d: use 0 to %d", n, store.MaxPriority)
	}
	return nil
}

// Disable adds the operator's hold: disabled, or unchanged. d is how long it lasts, 0: until
// somebody enables them; until is then the pool time at which it ends.
func Disable(ctx context.Context, p *store.Pool, ids []string, note string, d time.Duration) (all []Outcome, until int64, err error) {
	done, err := scheduler.Disable(ctx, p, ids, note, d)
	if d > 0 {
		until = p.Now() + d.Milliseconds()
	}
	return outcomes(done, "disabled", until), until, err
}

// Enable lifts the operator's hold: enabled, or unchanged.
func Enable(ctx context.Context, p *store.Pool, ids []string) ([]Outcome, error) {
	done, err := scheduler.Enable(ctx, p, ids)
	return outcomes(done, "enabled", 0), err
}

func outcomes(done []scheduler.Outcome, word string, until int64) []Outcome {
	all := make([]Outcome, 0, len(done))
	for _, o := range done {
		one := Outcome{Endpoint: o.ID, Outcome: word, UntilMs: until}
		if !o.Known {
			one = Outcome{Endpoint: o.ID, Outcome: Unknown}
		} else if !o.Written {
			one = Outcome{Endpoint: o.ID, Outcome: Unchanged}
		}
		all = append(all, one)
	}
	return all
}

// forgetTries bounds how often an endpoint whose record changes meanwhile is read again.
const forgetTries = 5

// Forget removes endpoints and all that is known of them: forgotten, or busy.
func Forget(ctx context.Context, p *store.Pool, ids []string) ([]Outcome, error) {
	words := make(map[string]string, len(ids))
	open := ids
	for try := 0; len(open) > 0 && try < forgetTries; try++ {
		entries, _, err := p.Look(ctx, open)
		if err != nil {
			return nil, err
		}
		var known []store.Entry
		for _, e := range entries {
			if words[e.ID] = Unknown; e.Known() {
				words[e.ID] = Busy
				known = append(known, e)
			}
		}
		codes, err := p.Forget(ctx, record.ByOperator, known)
		if err != nil {
			return nil, err
		}
		open = nil
		for i, code := range codes {
			switch code {
			case store.Applied:
				words[known[i].ID] = "forgotten"
			case store.Changed:
				open = append(open, known[i].ID)
			}
		}
	}
	all := make([]Outcome, len(ids))
	for i, id := range ids {
		all[i] = Outcome{Endpoint: id, Outcome: words[id]}
	}
	return all, nil
}
