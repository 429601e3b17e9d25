package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"proxyward/internal/cli/screen"
	"proxyward/internal/cli/tell"
	"proxyward/internal/operate"
	"proxyward/store"
	"proxyward/store/record"
)

// printExplain writes one endpoint's story for a person.
func (a *app) printExplain(x operate.Story, e store.Entry) error {
	style, now := a.style(), x.NowMs
	var b strings.Builder
	state := e.State()
	fmt.Fprintf(&b, "%s  %s %s\n", style.Paint(screen.Bold, x.Endpoint), style.Paint(tell.StateInk(state), string(state)), sinceWords(x.Record, now))
	t := screen.Table{Columns: []screen.Column{{}, {}}}
	row := func(name, text string) {
		if text != "" {
			t.Add(screen.Cell{Text: "  " + name, Ink: screen.Faint}, screen.C(text))
		}
	}
	row("why", tell.Why(e))
	row("blame", tell.Blamed(x.Record.Blame))
	row("next", x.Next.Words)
	row("do", x.Advice)
	row("failures", classWords(x.Record.Classes, now))
	row("probes", probeWords(x.Record, now))
	row("reports", reportWords(x.Reports, now))
	row("allocated", screen.Count(x.Record.Allocations, "time"))
	if x.Jobs > 0 {
		row("jobs", screen.Number(x.Jobs)+" live")
	}
	row("lists", strings.Join(x.Record.Sources, ", "))
	if state != record.Disabled {
		row("note", x.Record.Note)
	}
	plain := style
	plain.Width = 0 // sentences are not cut here: this is the place to read them whole
	t.Write(&b, plain)
	historyTable(x.History, now).Write(&b, plain)
	_, err := io.WriteString(a.out, b.String())
	return err
}

func sinceWords(r record.Record, now int64) string {
	if r.SinceMs == 0 {
		return ""
	}
	return fmt.Sprintf("since %s (%s)", screen.Clock(r.SinceMs, now), screen.When(r.SinceMs, now))
}

// classWords counts the failures by kind: connect.refused 3, body.timeout 1.
func classWords(classes map[string]record.Count, now int64) string {
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		c := classes[class]
		parts = append(parts, fmt.Sprintf("%s %s (last %s)", class, times(c.N), screen.When(c.AtMs, now)))
	}
	return strings.Join(parts, ", ")
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func probeWords(r record.Record, now int64) string {
	if r.LastProbeMs == 0 {
		return "none yet"
	}
	text := "last " + screen.When(r.LastProbeMs, now)
	if r.LastOKMs > 0 {
		text += ", last passed " + screen.When(r.LastOKMs, now) + " in " + screen.Number(r.LatencyMs) + " ms"
	} else {
		text += ", never passed"
	}
	return text
}

// reportWords says what workers told of an endpoint, as far as it still matters.
func reportWords(r *operate.Reports, now int64) string {
	if r == nil {
		return ""
	}
	var parts []string
	if r.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%s by %s, the last %s", screen.Count(int64(r.Failed), "bad one"), screen.Count(int64(r.Workers), "worker"), screen.When(r.LastMs, now)))
	}
	if r.AskedMs > 0 {
		parts = append(parts, "workers' reports asked for a probe "+screen.When(r.AskedMs, now))
	}
	return strings.Join(parts, "; ")
}

func historyTable(history []record.Step, now int64) *screen.Table {
	t := &screen.Table{Columns: []screen.Column{{}, {}, {}, {}, {}}}
	for i, h := range history {
		head := ""
		if i == 0 {
			head = "history"
		}
		from := string(h.From)
		if from == "" {
			from = "new"
		}
		why := tell.Class(h.Stage, h.Reason)
		if h.Detail != "" {
			why = strings.TrimPrefix(why+": "+h.Detail, ": ")
		}
		if h.PauseMs > 0 {
			why += fmt.Sprintf(" (pause %s)", screen.Span(msDuration(h.PauseMs)))
		}
		t.Add(screen.Cell{Text: "  " + head, Ink: screen.Faint}, screen.C(screen.When(h.AtMs, now)),
			screen.Cell{Text: from + " → " + string(h.To), Ink: tell.StateInk(h.To)}, screen.C(strings.TrimSpace("by "+string(h.By)+" "+h.Probe)), screen.C(why))
	}
	return t
}
