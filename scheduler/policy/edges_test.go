package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"proxyward/store/record"
)

// drawn is `from ── label ──▶ to`; "new" stands for an endpoint without a record.
var drawn = regexp.MustCompile(`^(\w+)\s+──\s(.+?)\s─+▶\s(\w+)$`)

func drawing(t *testing.T) []Edge {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var edges []Edge
	for line := range strings.Lines(file.Doc.Text()) {
		line = strings.TrimSpace(line)
		if !strings.ContainsAny(line, "─▶") {
			continue
		}
		m := drawn.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("doc.go draws something that is no edge: %q", line)
			continue
		}
		from := record.State(m[1])
		if from == "new" {
			from = ""
		}
		edges = append(edges, Edge{From: from, To: record.State(m[3]), On: m[2]})
	}
	return edges
}

func TestDrawingAndTableShowTheSameMachine(t *testing.T) {
	picture := drawing(t)
	for _, e := range picture {
		if !slices.Contains(Edges, e) {
			t.Errorf("drawn but not in the table: %q -- %s --> %q", e.From, e.On, e.To)
		}
	}
	for _, e := range Edges {
		if !slices.Contains(picture, e) {
			t.Errorf("in the table but not drawn: %q -- %s --> %q", e.From, e.On, e.To)
		}
	}
	if len(picture) != len(Edges) {
		t.Errorf("%d edges drawn, %d in the table: one stands there twice", len(picture), len(Edges))
	}
}

func TestEdgesJoinKnownStates(t *testing.T) {
	for _, e := range Edges {
		if e.From != "" && !slices.Contains(record.States, e.From) || !slices.Contains(record.States, e.To) {
			t.Errorf("%q to %q: unknown state", e.From, e.To)
		}
	}
}

func TestEveryOtherEdgeIsAnError(t *testing.T) {
	for _, from := range append([]record.State{""}, record.States...) {
		for _, to := range record.States {
			known := slices.ContainsFunc(Edges, func(e Edge) bool { return e.From == from && e.To == to })
			if err := checkEdge(from, to); (err == nil) != known {
				t.Errorf("from %q to %q: %v", from, to, err)
			}
		}
	}
}

// The machine is pure: what it imports and how it uses it says so.
func TestMachineHasNoClockNoDiceAndNoGoroutine(t *testing.T) {
	allowed := []string{"fmt", "math", "slices", "time", "proxyward/checks/verdict", "proxyward/store/record"}
	fset := token.NewFileSet()
	files, err := parser.ParseDir(fset, ".", nil, 0) //lint:ignore SA1019 the directory is one package, without build tags
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, file := range files["policy"].Files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		seen++
		for _, spec := range file.Imports {
			if path := strings.Trim(spec.Path.Value, `"`); !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%s: a goroutine or a channel", fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && !slices.Contains(plainTime, n.Sel.Name) {
					t.Errorf("%s: time.%s", fset.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
	if seen < 5 {
		t.Errorf("only %d files were looked at", seen)
	}
}

// plainTime is what needs no clock of package time.
var plainTime = []string{"Duration", "Millisecond", "Second", "Minute", "Hour"}
