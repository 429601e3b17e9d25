package configs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

type kind int

const (
	null kind = iota
	scalarKind
	listKind
	mapKind
	brokenKind // something is wrong with it already
)

// String is how the kind is called in messages.
func (k kind) String() string {
	return [...]string{"nothing", "a single value", "a list", "a map", "nothing"}[k]
}

// place is a position in the file, from 1.
type place struct{ line, column int }

// node is a value of the file: YAML without comments, tags, anchors and merge keys. An
// alias is the very node that its anchor names, so that aliases of aliases take no memory.
type node struct {
	kind    kind
	at      place
	text    string // of a scalar, as written but for quotes and escapes
	quoted  bool   // a scalar in quotes or in a block: text, whatever it looks like
	items   []*node
	entries []entry
}

type entry struct {
	key   string
	at    place // of the key
	value *node
}

// grower makes nodes of a parsed document and notes what may not be in one.
type grower struct {
	faults  *faultList
	anchors map[string]*node
}

func placeOf(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{t.Position.Line, max(1, t.Position.Column)}
}

func (g *grower) grow(n ast.Node, path string) *node {
	if n == nil {
		return &node{at: place{1, 1}}
	}
	at := placeOf(n.GetToken())
	switch n := n.(type) {
	case *ast.NullNode:
		return &node{at: at}
	case *ast.StringNode:
		return &node{kind: scalarKind, at: at, text: n.Value, quoted: n.Token.Type != token.StringType}
	case *ast.LiteralNode:
		return &node{kind: scalarKind, at: at, text: n.Value.Value, quoted: true}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &node{kind: scalarKind, at: at, text: n.GetToken().Value}
	case *ast.SequenceNode:
		list := &node{kind: listKind, at: at}
		for i, item := range n.Values {
			list.items = append(list.items, g.grow(item, fmt.Sprintf("%s[%d]", path, i)))
		}
		return list
	case *ast.MappingNode:
		return g.growMap(n.Values, at, path)
	case *ast.MappingValueNode:
		return g.growMap([]*ast.MappingValueNode{n}, at, path)
	case *ast.AnchorNode:
		value := g.grow(n.Value, path)
		g.anchors[n.Name.GetToken().Value] = value
		return value
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		if value := g.anchors[name]; value != nil {
			return value
		}
		g.faults.add(at, path, "no anchor &%s before this alias: define it above, outside of what the alias stands in", name)
		return &node{kind: brokenKind, at: at}
	}
	g.faults.add(at, path, "this form of YAML is not used here: write plain maps, lists and values")
	return &node{kind: brokenKind, at: at}
}

// growMap reads the fields of a map; those written out win over merged ones.
func (g *grower) growMap(values []*ast.MappingValueNode, at place, path string) *node {
	m := &node{kind: mapKind, at: at}
	if len(values) > 0 {
		m.at = placeOf(values[0].Key.GetToken())
	}
	if at.line == m.at.line && at.column < m.at.column {
		m.at = at // the brace of a map in flow style
	}
	var merged []*node
	index := map[string]place{}
	for _, v := range values {
		where := placeOf(v.Key.GetToken())
		if v.Key.IsMergeKey() {
			merged = append(merged, g.merge(v.Value, where, path)...)
			continue
		}
		key, ok := v.Key.(ast.ScalarNode)
		if !ok {
			g.faults.add(where, path, "this form of key is not used here: write key: value")
			continue
		}
		name := key.GetToken().Value
		below := join(path, name)
		if first, again := index[name]; again {
			g.faults.add(where, below, "given twice, first on line %d: remove one", first.line)
			continue
		}
		index[name] = where
		m.entries = append(m.entries, entry{name, where, g.grow(v.Value, below)})
	}
	for _, from := range merged {
		for _, e := range from.entries {
			if _, written := index[e.key]; !written {
				index[e.key] = e.at
				m.entries = append(m.entries, e)
			}
		}
	}
	return m
}

// merge is what a merge key (<<) names: a map, or a list of maps of which the first wins.
func (g *grower) merge(value ast.Node, at place, path string) []*node {
	n := g.grow(value, join(path, "<<"))
	maps := n.items
	if n.kind == mapKind {
		maps = []*node{n}
	}
	for _, m := range maps {
		if m.kind != mapKind {
			maps = nil
		}
	}
	if len(maps) == 0 && n.kind != null && n.kind != brokenKind {
		g.faults.add(at, path, "a merge key (<<) takes a map, or a list of maps: write <<: *anchor")
	}
	return maps
}

// join makes the path of a field; a key that is no plain word is quoted.
func join(path, name string) string {
	if !plainKey(name) {
		name = strconv.Quote(name[:min(len(name), 64)])
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func plainKey(name string) bool {
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || r == '"' || r == ':'
	}) < 0
}
