package cli

import (
	"fmt"
	"slices"
	"strings"

	"proxyward/checks/verdict"
)

// telling are the header fields that say who answered and why.
var telling = []string{"proxy-authenticate", "proxy-status", "via", "x-squid-error", "x-cache", "server", "www-authenticate",
	"retry-after", "location", "content-type"}

// answers are the status lines that came over the wire, each with its telling header
// fields: what a peer really said. Secrets were masked where they were recorded.
func answers(one result) (lines []string) {
	for _, t := range one.trace {
		if t.Kind != "got" || t.Stage == verdict.Body {
			continue
		}
		name, _, isField := strings.Cut(t.Text, ":")
		switch {
		case strings.HasPrefix(t.Text, "HTTP/"):
			lines = append(lines, t.Text)
		case isField && len(lines) > 0 && slices.Contains(telling, strings.ToLower(name)):
			lines = append(lines, "  "+t.Text)
		}
	}
	return lines
}

// said shows the answers of a probe that failed.
func (r *probeReport) said(b *strings.Builder, one result) {
	label := "answer"
	for _, line := range answers(one) {
		fmt.Fprintf(b, "  %-6s %s\n", label, line)
		label = ""
	}
}
