package configs

import (
	"cmp"
	"fmt"
	"slices"
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

// String is FILE:LINE:COL: path: message.
func (f Fault) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	parts := slices.DeleteFunc([]string{at, f.Path, f.Msg}, func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
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

// maxFaults is how many faults are told at once, of at most maxGathered.
const (
	maxFaults   = 200
	maxGathered = 2000
)

// faultList gathers what is wrong with one file.
type faultList struct {
	file string
	list []Fault
}

func (l *faultList) add(at place, path, format string, args ...any) {
	if len(l.list) == maxGathered {
		return
	}
	l.list = append(l.list, Fault{l.file, at.line, at.column, path, fmt.Sprintf(format, args...)})
}

// near reports whether something is wrong at path, in it, or around it: what follows from
// a fault is not told beside it.
func (l *faultList) near(path string) bool {
	for _, f := range l.list {
		if f.Path == path || within(f.Path, path) || within(path, f.Path) {
			return true
		}
	}
	return false
}

// within: inner is a path below outer.
func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return outer != "" && ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// err is nil where nothing is wrong.
func (l *faultList) err() error {
	if len(l.list) == 0 {
		return nil
	}
	list := l.sorted()
	if more := len(list) - maxFaults; more > 0 {
		list = append(list[:maxFaults], Fault{File: l.file, Msg: fmt.Sprintf("and %d more faults at least", more)})
	}
	return &Faults{list}
}

// sorted is the list in the order of the file.
func (l *faultList) sorted() []Fault {
	list := slices.Clone(l.list)
	slices.SortStableFunc(list, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Path, b.Path))
	})
	return list
}
