package suspect

import (
	"encoding/json"
	"slices"
)

// State is what is remembered of the reports about one endpoint. It is bounded: twice as
// many sights as the rules ask for, of each kind, and some that only tell repetitions.
type State struct {
	Bad      []Sight `json:"bad,omitempty"`  // those that count, oldest first
	Good     []Sight `json:"good,omitempty"` // oldest first
	Done     []Sight `json:"done,omitempty"` // bad ones that no longer count
	AskedMs  int64   `json:"asked_ms,omitempty"`
	FailedMs int64   `json:"failed_ms,omitempty"` // the last bad one, where good ones matter
}

// Sight is one report as it is remembered.
type Sight struct {
	AtMs   int64  `json:"t"`
	Worker string `json:"w"`
	Mark   string `json:"m"`
}

// doneKept is how many sights are remembered only to tell repetitions.
const doneKept = 64

// Decode reads a state; what cannot be read is worth nothing and starts anew.
func Decode(raw string) (s State) {
	if json.Unmarshal([]byte(raw), &s) != nil {
		return State{}
	}
	return s
}

// Encode writes a state; an empty one is an empty text.
func (s State) Encode() string {
	if len(s.Bad)+len(s.Good)+len(s.Done) == 0 && s.AskedMs+s.FailedMs == 0 {
		return ""
	}
	b, err := json.Marshal(s)
	if err != nil { // numbers and texts only
		panic(err)
	}
	return string(b)
}

// Clone is a copy that shares no memory with s.
func (s State) Clone() State {
	s.Bad, s.Good, s.Done = slices.Clone(s.Bad), slices.Clone(s.Good), slices.Clone(s.Done)
	return s
}

// EndsMs is the pool time from which the state is worth nothing any more.
func (s State) EndsMs(r Rules) int64 {
	ends := int64(0)
	for _, last := range []struct{ atMs, counts int64 }{
		{max(newest(s.Bad), newest(s.Done)), r.WithinMs}, {newest(s.Good), r.RecheckMs}, {s.FailedMs, r.RecheckMs}, {s.AskedMs, r.QuietMs},
	} {
		if last.atMs > 0 {
			ends = max(ends, last.atMs+last.counts)
		}
	}
	return ends
}

func newest(list []Sight) int64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].AtMs
}

func oldestFirst(a, b Sight) int {
	return int(a.AtMs - b.AtMs)
}

// after splits a list at a time: those up to it, and those after it.
func after(list []Sight, ms int64) (before, rest []Sight) {
	n, _ := slices.BinarySearchFunc(list, ms, func(s Sight, ms int64) int {
		if s.AtMs <= ms {
			return -1
		}
		return 1
	})
	return list[:n:n], list[n:]
}

func add(list []Sight, s Sight) []Sight {
	list = append(list, s)
	slices.SortStableFunc(list, oldestFirst)
	return list
}

func knows(list []Sight, mark string) bool {
	return slices.ContainsFunc(list, func(s Sight) bool { return s.Mark == mark })
}

// Workers counts the workers that reports came from.
func Workers(list []Sight) int {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s.Worker] = true
	}
	return len(seen)
}

// keep leaves what the rules can ever ask of a list: its n newest, and the newest of each
// of w workers. So no report that a full list would count is missed.
func keep(list []Sight, n, w int) (kept, rest []Sight) {
	if len(list) <= n {
		return list, nil
	}
	seen := map[string]bool{}
	for i, s := range slices.Backward(list) {
		if len(list)-i <= n || !seen[s.Worker] && len(seen) < w {
			kept = append(kept, s)
		} else {
			rest = append(rest, s)
		}
		seen[s.Worker] = true
	}
	slices.Reverse(kept)
	slices.Reverse(rest)
	return kept, rest
}
