package verdict

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDetail is how long a Detail may be, in bytes.
const MaxDetail = 200

type place struct {
	stage Stage
	name  string
}

var rows = index()

func index() map[place]*Event {
	m := make(map[place]*Event, 2*len(Table))
	for i := range Table {
		for _, s := range Table[i].Stages {
			k := place{s, Table[i].Name}
			if m[k] == nil { // a row further up is the more special one
				m[k] = &Table[i]
			}
		}
	}
	return m
}

// Lookup finds the event of that name at that stage.
func Lookup(stage Stage, name string) (Event, bool) {
	if e := rows[place{stage, name}]; e != nil {
		return *e, true
	}
	return Event{}, false
}

// Make is the verdict of an event seen at a stage. more, if any, is what the peer really
// said; it is cleaned and cut. An event that the table does not know is a fault of ours
// and is reported as one: it must never condemn an endpoint.
func Make(stage Stage, name, more string) Verdict {
	e, ok := Lookup(stage, name)
	if !ok {
		return Verdict{Stage: stage, Reason: LocalError, Blame: Local, Detail: "no such event in the table: " + string(stage) + " " + name}
	}
	detail := e.Sentence
	if more = Clean(more); more != "" {
		detail += ": " + more
	}
	return Verdict{Stage: stage, Reason: e.Reason, Blame: e.Blame, Detail: Cut(detail)}
}

// Clean makes a stranger's words fit to be shown: control characters and what is not
// UTF-8 go, runs of blanks become one.
func Clean(s string) string {
	if len(s) > 4*MaxDetail {
		s = s[:4*MaxDetail]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// Cut shortens to MaxDetail bytes without breaking a character.
func Cut(s string) string {
	if len(s) <= MaxDetail {
		return s
	}
	s = s[:MaxDetail-3]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}
