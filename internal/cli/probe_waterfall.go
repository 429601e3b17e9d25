package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"proxyward/checks"
	"proxyward/checks/verdict"
	"proxyward/internal/cli/screen"
	"proxyward/internal/cli/tell"
)

const barWidth = 40

// stageWords says what each stage does.
var stageWords = map[verdict.Stage]string{
	verdict.Resolve:   "find addresses",
	verdict.Connect:   "reach the proxy",
	verdict.ProxyTLS:  "TLS with the proxy",
	verdict.ProxyAuth: "log in at the proxy",
	verdict.Tunnel:    "ask for the tunnel",
	verdict.TargetTLS: "TLS with the target",
	verdict.Request:   "send the request",
	verdict.Headers:   "wait for the answer",
	verdict.Body:      "read the body",
	verdict.Verify:    "compare with the check",
}

// waterfall is the whole story of one probe: where the time went, what it came to, what
// to do.
func (r *probeReport) waterfall(one result) error {
	var b strings.Builder
	v := one.verdict
	fmt.Fprintf(&b, "%s  check %s\n", r.style.Paint(screen.Bold, one.endpoint.ID()), r.check)
	if r.verbose {
		r.conversation(&b, one)
	}
	r.bars(&b, v)
	if v.Passed {
		fmt.Fprintf(&b, "%s in %s: status %d, %s\n", r.style.Paint(screen.Good, "passed"), span(v.Total), v.Status, screen.Count(v.Bytes, "byte"))
	} else {
		r.failure(&b, one)
	}
	_, err := io.WriteString(r.app.out, b.String())
	return err
}

func (r *probeReport) failure(b *strings.Builder, one result) {
	v, status := one.verdict, ""
	if v.Status > 0 {
		status = fmt.Sprintf(" (status %d)", v.Status)
	}
	fmt.Fprintf(b, "%s at %s: %s: %s%s\n", r.style.Paint(screen.Bad, "failed"), v.Stage, v.Reason, v.Detail, status)
	if who := tell.Blamed(string(v.Blame)); who != "" {
		fmt.Fprintf(b, "  blame  %s\n", who)
	}
	if !r.verbose {
		r.said(b, one)
	}
	if v.RetryAfter > 0 {
		fmt.Fprintf(b, "  wait   it asks to be left alone for %s\n", screen.Span(v.RetryAfter))
	}
	if advice := tell.Advice(string(v.Stage), string(v.Reason), string(v.Blame)); advice != "" {
		fmt.Fprintf(b, "  do     %s\n", advice)
	}
}

// bars draws the stages against the whole time, one after the other.
func (r *probeReport) bars(b *strings.Builder, v verdict.Verdict) {
	t := screen.Table{Columns: []screen.Column{{}, {}, {}, {Right: true}, {}}}
	begun := time.Duration(0)
	for _, stage := range verdict.Stages {
		spent, entered := v.Timings[stage]
		if !entered && stage != v.Stage {
			continue
		}
		ink, mark := screen.News, ""
		if stage == v.Stage {
			ink, mark = screen.Bad, "✗ "+string(v.Reason)
		}
		t.Add(screen.C(""), screen.C(string(stage)), screen.Cell{Text: bar(begun, spent, v.Total), Ink: ink}, screen.C(span(spent)),
			screen.Cell{Text: strings.TrimSpace(mark + "  " + stageWords[stage]), Ink: screen.Faint})
		begun += spent
	}
	t.Write(b, r.style)
}

// bar is where in the whole time a stage lay.
func bar(begun, spent, total time.Duration) string {
	if total <= 0 {
		return ""
	}
	at := func(d time.Duration) int { return int(barWidth * min(d, total) / total) }
	from, to := at(begun), at(begun+spent)
	if from == to {
		return strings.Repeat(" ", min(from, barWidth-1)) + "▏"
	}
	return strings.Repeat(" ", from) + strings.Repeat("█", to-from)
}

// span tells short times in tenths of a millisecond.
func span(d time.Duration) string {
	if d < 100*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return screen.Span(d)
}

// conversation shows what went over the wire; secrets are masked where it was recorded.
func (r *probeReport) conversation(w io.Writer, one result) {
	if r.total > 1 {
		fmt.Fprintf(w, "%s\n", one.endpoint.ID())
	}
	for _, t := range one.trace {
		if t.Kind == "begin" || t.Kind == "end" { // the bars tell these
			continue
		}
		fmt.Fprintf(w, "  %9s  %-10s %s\n", span(t.At), t.Stage, traceWords(r.style, t))
	}
}

func traceWords(style screen.Style, t checks.Trace) string {
	switch t.Kind {
	case "sent":
		return style.Paint(screen.News, "> "+t.Text)
	case "got":
		return style.Paint(screen.Good, "< "+t.Text)
	case "note":
		return style.Paint(screen.Faint, "* "+t.Text)
	}
	return strings.TrimSpace(style.Paint(screen.Faint, "* "+t.Kind) + " " + t.Text)
}

func trimRight(s string) string { return strings.TrimRight(s, " ") }
