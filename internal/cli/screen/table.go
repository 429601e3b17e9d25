package screen

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cell is one field of a table.
type Cell struct {
	Text string
	Ink  Ink
}

// C is a plain cell.
func C(text string) Cell { return Cell{Text: text} }

// Column is one column's head and how its cells stand.
type Column struct {
	Head  string
	Right bool // numbers
	Flex  bool // shortened when the table is wider than the screen; the last column is always
}

// Table gathers rows and writes them aligned.
type Table struct {
	Columns []Column
	rows    [][]Cell
}

// Add appends a row; missing cells are empty. What a terminal would obey is shown as �:
// anybody may have written it.
func (t *Table) Add(cells ...Cell) {
	row := make([]Cell, len(cells))
	for i, c := range cells {
		row[i] = Cell{strings.Map(plain, c.Text), c.Ink}
	}
	t.rows = append(t.rows, row)
}

// plain replaces control characters, and those that change the direction of the text.
func plain(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return utf8.RuneError
	}
	return r
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

const gap = "  "

// narrowest is what a shortened column keeps at least.
const narrowest = 12

// Write writes the table: heads, then rows. A table without rows is its heads.
func (t *Table) Write(w io.Writer, s Style) error {
	widths := t.widths(s.Width)
	var b strings.Builder
	heads := make([]Cell, len(t.Columns))
	some := false
	for i, c := range t.Columns {
		heads[i] = Cell{c.Head, Bold}
		some = some || c.Head != ""
	}
	if some {
		t.line(&b, s, heads, widths)
	}
	for _, row := range t.rows {
		t.line(&b, s, row, widths)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) line(b *strings.Builder, s Style, row []Cell, widths []int) {
	var line strings.Builder
	blanks := 0
	for i, column := range t.Columns {
		var cell Cell
		if i < len(row) {
			cell = row[i]
		}
		text := Shorten(cell.Text, widths[i])
		pad := widths[i] - utf8.RuneCountInString(text)
		if column.Right {
			blanks, pad = blanks+pad, 0
		}
		if text != "" {
			line.WriteString(strings.Repeat(" ", blanks))
			line.WriteString(s.Paint(cell.Ink, text))
			blanks = 0
		}
		blanks += pad + len(gap)
	}
	b.WriteString(line.String())
	b.WriteByte('\n')
}

// widths fits the columns to the screen: flexible ones give way, the last one first.
func (t *Table) widths(screen int) []int {
	widths := make([]int, len(t.Columns))
	total := 0
	for i, c := range t.Columns {
		widths[i] = utf8.RuneCountInString(c.Head)
		for _, row := range t.rows {
			if i < len(row) {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[i].Text))
			}
		}
		total += widths[i] + len(gap)
	}
	if screen <= 0 {
		return widths
	}
	over := total - len(gap) - screen
	for i := len(widths) - 1; i >= 0 && over > 0; i-- {
		if !t.Columns[i].Flex && i != len(widths)-1 {
			continue
		}
		give := min(over, widths[i]-min(widths[i], narrowest))
		widths[i], over = widths[i]-give, over-give
	}
	return widths
}

// Shorten cuts text to so many columns, with a sign where something is missing.
func Shorten(text string, width int) string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:width-1]) + "…"
}
