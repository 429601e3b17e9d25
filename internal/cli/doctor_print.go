package cli

import (
	"fmt"
	"io"
	"strings"

	"proxyward/internal/cli/screen"
	"proxyward/store/health"
)

// severities are how each is written.
var severities = map[health.Severity]screen.Cell{
	health.Hurts:   {Text: "will hurt", Ink: screen.Bad},
	health.Warning: {Text: "warning", Ink: screen.Warn},
	health.OK:      {Text: "ok", Ink: screen.Good},
}

// printDoctor writes a paragraph per finding, the worst first.
func printDoctor(w io.Writer, style screen.Style, redis, user string, findings []health.Finding) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Redis at %s, as user %s\n\n", redis, user)
	count := map[health.Severity]int64{}
	for _, f := range findings {
		count[f.Severity]++
		as := severities[f.Severity]
		mark, rest := fmt.Sprintf("%-9s", as.Text), ": "
		if len(f.Nodes) > 0 {
			rest = " at " + strings.Join(f.Nodes, ", ") + rest
		}
		if f.Check != "" {
			rest = " of check " + f.Check + rest
		}
		b.WriteString(style.Paint(as.Ink, mark) + "  " + style.Paint(screen.Bold, f.Topic) + rest)
		paragraph(&b, style.Width, len(mark+"  "+f.Topic+rest), f.What)
		if f.Mend != "" {
			b.WriteString(arrow)
			paragraph(&b, style.Width, len(indent), f.Mend)
		}
	}
	fmt.Fprintf(&b, "\n%d will hurt, %s, %d ok\n", count[health.Hurts], screen.Count(count[health.Warning], "warning"), count[health.OK])
	_, err := io.WriteString(w, b.String())
	return err
}

// indent is where the lines of a paragraph go on; arrow is as wide.
const (
	indent = "             "
	arrow  = "           → "
)

// paragraph writes text after what stands in its line already, broken at spaces to fit the
// width; 0: in one line.
func paragraph(b *strings.Builder, width, at int, text string) {
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case width > 0 && at+1+n > width:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
}
