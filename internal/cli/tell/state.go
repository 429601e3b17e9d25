package tell

import (
	"fmt"
	"strings"

	"proxyward/internal/cli/screen"
	"proxyward/store"
	"proxyward/store/record"
)

// StateInk is the colour of a state.
func StateInk(s record.State) screen.Ink {
	switch s {
	case record.Eligible:
		return screen.Good
	case record.Cooling:
		return screen.Bad
	case record.Permitted:
		return screen.News
	case record.Disabled:
		return screen.Faint
	}
	return screen.Plain
}

// Class is stage.reason, or nothing.
func Class(stage, reason string) string {
	if stage == "" && reason == "" {
		return ""
	}
	return stage + "." + reason
}

// Why says in a few words why the endpoint stands where it stands.
func Why(e store.Entry) string {
	r := e.Record
	switch e.State() {
	case record.Candidate:
		switch {
		case r.Reason != "":
			return "undecided: " + failure(r)
		case len(r.History) > 1:
			return "not judged since it came back"
		}
		return "not judged yet"
	case record.Disabled:
		return disabled(r)
	case record.Eligible:
		if r.Fall > 0 {
			return fmt.Sprintf("in doubt after %s: %s", screen.Count(int64(r.Fall), "failure"), failure(r))
		}
		if r.Reason != "" {
			return "not its fault: " + failure(r)
		}
		return ""
	}
	return failure(r)
}

func failure(r record.Record) string {
	class := Class(r.Stage, r.Reason)
	if class == "" {
		return r.Detail
	}
	if r.Detail == "" {
		return class
	}
	return class + ": " + r.Detail
}

// HoldWords says what each hold means.
var HoldWords = map[record.Hold]string{
	record.Operator: "by an operator",
	record.Retired:  "gone from every list",
	record.Policy:   "failed too often in one way (disable_after)",
}

func disabled(r record.Record) string {
	var parts []string
	for _, h := range r.Holds {
		words := HoldWords[h]
		if words == "" {
			words = string(h)
		}
		if h == record.Policy {
			words += ", " + failure(r)
		}
		parts = append(parts, words)
	}
	text := strings.Join(parts, "; ")
	if r.Note != "" {
		text += ": " + r.Note
	}
	return text
}
