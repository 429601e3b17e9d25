package configs

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds on what is parsed at all. Deeper or longer files make the YAML parser take
// minutes and gigabytes, and no configuration comes near.
const (
	maxFile   = 1 << 20
	maxTokens = 50_000
	maxDepth  = 32
)

const emptyFile = "empty: write at least one check; configs/minimal.yaml is an example"

// read parses a file into nodes. Where it returns nil, what is wrong is in the list.
func read(source []byte, faults *faultList) *node {
	source = bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	if len(source) > maxFile {
		faults.add(place{}, "", "over 1 MiB: this is no configuration; lists of proxies belong into files of their own")
		return nil
	}
	if !printable(source, faults) {
		return nil
	}
	tokens := lexer.Tokenize(string(source))
	if !bounded(tokens, faults) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		syntaxFault(err, source, faults)
		return nil
	}
	body := document(file, faults)
	if body == nil {
		return nil
	}
	root := (&grower{faults, map[string]*node{}}).grow(body, "")
	if root.kind == null {
		faults.add(root.at, "", emptyFile)
	}
	return root
}

// printable refuses what YAML forbids (1.2.2, section 5.1), at its place.
func printable(source []byte, faults *faultList) bool {
	at := place{1, 1}
	for i := 0; i < len(source); {
		r, n := utf8.DecodeRune(source[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			faults.add(at, "", "not UTF-8: save the file as UTF-8")
			return false
		case r == 0x7f || r < ' ' && r != '\t' && r != '\n' && r != '\r':
			faults.add(at, "", "a control character: remove it, or write it as \\x%02x in double quotes", r)
			return false
		}
		at.column++
		if r == '\n' {
			at = place{at.line + 1, 1}
		}
		i += n
	}
	return true
}

// bounded counts words and nesting before the parser, which recurses, sees them.
func bounded(tokens token.Tokens, faults *faultList) bool {
	words, depth, inLine, line := 0, 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, inLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.CommentType:
			continue
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType, token.AnchorType:
			inLine++
		case token.TagType, token.MappingKeyType, token.DirectiveType:
			faults.add(placeOf(t), "", "tags (!), complex keys (?) and directives (%%) are not used here: write plain maps, lists and values")
			return false
		}
		words++
		if depth > maxDepth || inLine > maxDepth || t.Position.IndentLevel > maxDepth {
			faults.add(placeOf(t), "", "nested over %d deep: no field is", maxDepth)
			return false
		}
		if words > maxTokens {
			faults.add(placeOf(t), "", "over %d words: split the checks over several daemons", maxTokens)
			return false
		}
	}
	return true
}

// document is the one document of the file.
func document(file *ast.File, faults *faultList) ast.Node {
	var bodies []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil {
			bodies = append(bodies, d.Body)
		}
	}
	switch {
	case len(bodies) == 0:
		faults.add(place{1, 1}, "", emptyFile)
		return nil
	case len(bodies) > 1 || len(file.Docs) > 1:
		at := place{1, 1}
		if last := file.Docs[len(file.Docs)-1]; last.Start != nil {
			at = placeOf(last.Start)
		}
		faults.add(at, "", "a second document: put everything into one, and remove the --- line")
		return nil
	}
	return bodies[0]
}

// syntaxFault tells what the parser stumbled over. Its messages hold single characters of
// the file at most.
func syntaxFault(err error, source []byte, faults *faultList) {
	at, msg := place{1, 1}, "not YAML"
	var syntax yaml.Error
	if errors.As(err, &syntax) {
		at, msg = placeOf(syntax.GetToken()), syntax.GetMessage()
	}
	if lineStartsWithTab(source, at.line) {
		msg = "a tab in the indentation: indent with spaces"
	}
	faults.add(at, "", "not YAML: %s", strings.TrimPrefix(msg, "not YAML: "))
}

func lineStartsWithTab(source []byte, line int) bool {
	lines := bytes.Split(source, []byte("\n"))
	if line > len(lines) {
		return false
	}
	text := lines[line-1]
	indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
	return bytes.IndexByte(indent, '\t') >= 0
}
