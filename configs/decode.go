package configs

import (
	"fmt"
	"strings"
)

// decoder carries what is written into what the fields point at.
type decoder struct {
	*faultList
	env      Env
	places   map[string]place // of everything written, by path
	referred map[string]bool  // paths whose value came from a reference
	left     int              // values that may still be read: aliases can repeat without end
}

// maxValues is how many values a file may have after its aliases are followed.
const maxValues = 20_000

func newDecoder(file string, env Env) *decoder {
	return &decoder{&faultList{file: file}, env, map[string]place{}, map[string]bool{}, maxValues}
}

// value is something a field can hold: it knows how to be read and how to be described.
type value interface {
	read(d *decoder, n *node, path string)
	schema() schema
	show(p picture, path string)
}

// field is one line of the table of fields.
type field struct {
	name string
	to   value
	doc  string // one sentence, for the schema
}

// object is a map with known fields. Left empty it is as if it were not there.
type object []field

func (o object) read(d *decoder, n *node, path string) {
	if !d.expect(n, mapKind, path) {
		return
	}
	for _, e := range n.entries {
		at := join(path, e.key)
		if f := o.find(e.key); f != nil {
			d.visit(f.to, e.value, e.at, at)
			continue
		}
		d.add(e.at, at, "unknown field%s", suggest(e.key, o.names()))
	}
}

func (o object) find(name string) *field {
	for i := range o {
		if o[i].name == name {
			return &o[i]
		}
	}
	return nil
}

func (o object) names() []string {
	names := make([]string, len(o))
	for i, f := range o {
		names[i] = f.name
	}
	return names
}

// list is a list of maps; fresh makes the defaults of an item.
type list[T any] struct {
	to     *[]T
	fresh  func() T
	fields func(*T) object
}

func (l list[T]) read(d *decoder, n *node, path string) {
	if !d.expect(n, listKind, path) {
		return
	}
	*l.to = make([]T, len(n.items))
	for i, item := range n.items {
		(*l.to)[i] = l.fresh()
		d.visit(l.fields(&(*l.to)[i]), item, item.at, fmt.Sprintf("%s[%d]", path, i))
	}
}

// dict is a map whose keys are the user's.
type dict[T any] struct {
	to     *map[string]T
	key    func(string) string // what is wrong with a key; empty: nothing
	fields func(*T) value
}

func (m dict[T]) read(d *decoder, n *node, path string) {
	if !d.expect(n, mapKind, path) {
		return
	}
	*m.to = map[string]T{}
	for _, e := range n.entries {
		at := join(path, e.key)
		if m.key != nil {
			if wrong := m.key(e.key); wrong != "" {
				d.add(e.at, at, "%s", wrong)
				continue
			}
		}
		var v T
		d.visit(m.fields(&v), e.value, e.at, at)
		(*m.to)[e.key] = v
	}
}

// visit reads one value and remembers its place: that of a scalar, else that of its key.
func (d *decoder) visit(v value, n *node, key place, path string) {
	d.places[path] = key
	if n.kind == scalarKind {
		d.places[path] = n.at
	}
	v.read(d, n, path)
}

// expect reports whether n is of the kind, and whether what is in it may still be read; an
// empty value is left alone without a fault.
func (d *decoder) expect(n *node, want kind, path string) bool {
	if n.kind == want {
		return d.room(len(n.items)+len(n.entries), n.at, path)
	}
	if n.kind == null || n.kind == brokenKind {
		return false
	}
	hint := map[kind]string{mapKind: "write field: value lines below it", listKind: "write - value lines below it, or [value, value]"}[want]
	d.add(d.placeOr(n, path), path, "%s where %s belongs: %s", n.kind, want, hint)
	return false
}

func (d *decoder) room(n int, at place, path string) bool {
	if d.left >= 0 && d.left < n {
		d.add(at, path, "over %d values once aliases are followed: write less, or split the file", maxValues)
	}
	d.left -= n
	return d.left >= 0
}

func (d *decoder) placeOr(n *node, path string) place {
	if at, ok := d.places[path]; ok {
		return at
	}
	return n.at
}

// given reports whether the file says something at path.
func (d *decoder) given(path string) bool {
	_, ok := d.places[path]
	return ok
}

// wrong notes a fault that was found after reading, unless it follows from another one.
func (d *decoder) wrong(path, format string, args ...any) {
	if !d.near(path) {
		d.add(d.placeNear(path), path, format, args...)
	}
}

// placeNear is the place of path, or of the closest thing around it that was written.
func (d *decoder) placeNear(path string) place {
	for p := path; p != ""; p = p[:max(0, strings.LastIndexAny(p, ".["))] {
		if at, ok := d.places[p]; ok {
			return at
		}
	}
	if len(d.places) == 0 {
		return place{}
	}
	return place{1, 1}
}

// revealing reports whether a message about path could hold what a reference stands for.
func (d *decoder) revealing(path string) bool {
	for p := range d.referred {
		if p == path || within(p, path) || within(path, p) {
			return true
		}
	}
	return false
}
