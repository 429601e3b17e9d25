package configs

import (
	"fmt"
	"strings"
)

// Fault is one thing wrong with a configuration.
type Fault struct {
	File   string
	Line   int // from 1; 0: no place in a file
	Column int
	Path   string // checks[0].request.url; empty: the file as a whole
	Msg    string // what is wrong and what would be right
}

func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	if f.Path != "" {
		b.WriteString(": " + f.Path)
	}
	return b.String() + ": " + f.Msg
}

// Faults is everything wrong with one configuration, in the order of the file.
type Faults struct{ List []Fault }

// Error is one line per fault.
func (f *Faults) Error() string {
	lines := make([]string, len(f.List))
	for i, one := range f.List {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}
