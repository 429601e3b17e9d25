package configs

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// text is a free text of the file.
type text struct {
	value   string // references resolved
	written string // references as they stand in the file
}

// MarshalJSON gives the text as written: fingerprints hold no secret.
func (t text) MarshalJSON() ([]byte, error) { return json.Marshal(t.written) }

// free is a field that takes any text. Numbers and words like true are taken as they are
// written: min_version: 1.2 needs no quotes.
type free struct{ to *text }

func (f free) read(d *decoder, n *node, path string) {
	if s, ok := d.scalar(n, path, "text"); ok {
		*f.to = text{s.text, n.text}
	}
}

// scalar is a field whose value has a form. parse returns false for what is not of it.
type scalar[T any] struct {
	to    *T
	want  string // what would be right
	bare  bool   // quotes make it another type
	parse func(string) (T, bool)
	shown func(T) any   // the default, for the schema; nil: as it is
	is    func() schema // built only when it is asked for: a file makes many fields
}

func (f scalar[T]) read(d *decoder, n *node, path string) {
	s, ok := d.scalar(n, path, f.want)
	if !ok {
		return
	}
	if f.bare && n.quoted && !s.referred {
		d.add(n.at, path, "%s is text: write %s, without quotes", s.show(), f.want)
		return
	}
	v, ok := f.parse(s.text)
	if !ok {
		d.add(n.at, path, "%s does not fit: write %s", s.show(), f.want)
		return
	}
	*f.to = v
}

// optional is a field whose absence differs from every value.
type optional[T any] struct {
	to **T
	of func(*T) value
}

func (f optional[T]) read(d *decoder, n *node, path string) {
	v := new(T)
	before := len(d.list)
	f.of(v).read(d, n, path)
	if len(d.list) == before && n.kind != null {
		*f.to = v
	}
}

// hidden is a free text that no message may hold.
type hidden struct{ to *text }

func (f hidden) read(d *decoder, n *node, path string) { free(f).read(d, n, path) }

// texts is a list of free texts.
type texts struct{ to *[]text }

func (f texts) read(d *decoder, n *node, path string) {
	if !d.expect(n, listKind, path) {
		return
	}
	*f.to = make([]text, len(n.items))
	for i, item := range n.items {
		d.visit(free{to: &(*f.to)[i]}, item, item.at, fmt.Sprintf("%s[%d]", path, i))
	}
}

// found is the text of a scalar once its references are resolved.
type found struct {
	text     string
	referred bool
}

// show is the value for a message: cut short, and never what a reference stands for.
func (f found) show() string {
	if f.referred {
		return "what the reference stands for"
	}
	const most = 40
	short := f.text
	for len(short) > most || !utf8.ValidString(short) {
		short = short[:min(most, len(short)-1)]
	}
	if short != f.text {
		return strconv.Quote(short) + "…"
	}
	return strconv.Quote(f.text)
}

// scalar reads a single value that is not empty.
func (d *decoder) scalar(n *node, path, want string) (found, bool) {
	switch n.kind {
	case brokenKind:
		return found{}, false
	case null:
		d.add(n.at, path, "no value: write %s, or remove the line", want)
		return found{}, false
	case listKind, mapKind:
		d.add(d.placeOr(n, path), path, "%s where a single value belongs: write %s", n.kind, want)
		return found{}, false
	}
	value, referred, err := d.env.expand(n.text)
	if err != nil {
		d.add(n.at, path, "%s", err)
		return found{}, false
	}
	if referred {
		d.referred[path] = true
	}
	return found{value, referred}, true
}
