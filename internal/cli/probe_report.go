package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"proxyward/checks/verdict"
	"proxyward/internal/cli/screen"
)

type probeJSON struct {
	Endpoint     string             `json:"endpoint"`
	Check        string             `json:"check"`
	Passed       bool               `json:"passed"`
	Stage        string             `json:"stage"`
	Reason       string             `json:"reason"`
	Blame        string             `json:"blame"`
	Detail       string             `json:"detail"`
	Status       int                `json:"status"`
	Bytes        int64              `json:"bytes"`
	TimingsMs    map[string]float64 `json:"timings_ms"`
	TotalMs      float64            `json:"total_ms"`
	RetryAfterMs int64              `json:"retry_after_ms"`
}

// probeReport prints results as they come, and what they add up to.
type probeReport struct {
	app     *app
	style   screen.Style
	check   string
	total   int // endpoints to probe
	verbose bool
	began   time.Time
	print   func(result) error
	story   bool // for people: a summary follows
	whole   bool // one endpoint: the conversation is part of its story
	bar     *progress

	passed, failed int
	classes        map[string]int // failures by stage.reason
	fault          error          // of writing
}

func newProbeReport(a *app, f *probeFlags, check string, total int) *probeReport {
	r := &probeReport{app: a, style: a.style(), check: check, total: total, verbose: f.verbose, began: time.Now(), classes: map[string]int{}}
	switch {
	case f.json:
		r.print = func(one result) error { return a.printJSON(r.json(one)) }
	case f.csv:
		r.print = r.csvPrinter()
	case total == 1:
		r.print, r.whole = r.waterfall, true
	default:
		r.print, r.story = r.line, true
	}
	r.bar = a.newProgress(total)
	return r
}

func (r *probeReport) add(one result) {
	v := one.verdict
	if v.Passed {
		r.passed++
	} else {
		r.failed++
		r.classes[v.Class()]++
	}
	r.bar.clear()
	if r.verbose && !r.whole {
		r.conversation(r.talk(), one)
	}
	r.fault = cmp.Or(r.fault, r.print(one))
	r.bar.draw(r.passed, r.failed)
}

// talk is where conversations go: data stays alone on standard output.
func (r *probeReport) talk() io.Writer {
	if r.story {
		return r.app.out
	}
	return r.app.err
}

func (r *probeReport) json(one result) probeJSON {
	v := one.verdict
	j := probeJSON{Endpoint: one.endpoint.ID(), Check: r.check, Passed: v.Passed, Stage: string(v.Stage), Reason: string(v.Reason),
		Blame: string(v.Blame), Detail: v.Detail, Status: v.Status, Bytes: v.Bytes, TimingsMs: map[string]float64{},
		TotalMs: milliseconds(v.Total), RetryAfterMs: v.RetryAfter.Milliseconds()}
	for stage, d := range v.Timings {
		j.TimingsMs[string(stage)] = milliseconds(d)
	}
	return j
}

// milliseconds keeps three decimals.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// line is one endpoint of many.
func (r *probeReport) line(one result) error {
	v := one.verdict
	word, ink, why := "passed", screen.Good, ""
	if !v.Passed {
		word, ink, why = "failed", screen.Bad, v.Class()+": "+v.Detail
	}
	status := "–"
	if v.Status > 0 {
		status = strconv.Itoa(v.Status)
	}
	text := fmt.Sprintf("  %8s  %3s  %-42s", span(v.Total), status, one.endpoint.ID())
	if why != "" {
		text += "  " + why
	}
	if r.style.Width > len(word) {
		text = screen.Shorten(text, r.style.Width-len(word))
	}
	_, err := fmt.Fprintln(r.app.out, r.style.Paint(ink, word)+trimRight(text))
	return err
}

// end prints the summary and gives the answer.
func (r *probeReport) end(ctx context.Context) error {
	done := r.passed + r.failed
	r.bar.clear()
	if r.story {
		r.summary(done)
	}
	switch {
	case r.fault != nil:
		return r.fault
	case ctx.Err() != nil:
		return sayNo("interrupted: %d of %d probed", done, r.total)
	case r.failed > 0:
		return quietNo
	}
	return nil
}

func (r *probeReport) summary(done int) {
	out := r.app.out
	fmt.Fprintf(out, "\n%d of %s probed in %s: %s, %s\n", done, screen.Count(int64(r.total), "endpoint"), screen.Span(time.Since(r.began)),
		r.style.Paint(screen.Good, fmt.Sprintf("%d passed", r.passed)), r.style.Paint(screen.Bad, fmt.Sprintf("%d failed", r.failed)))
	t := screen.Table{Columns: []screen.Column{{}, {Right: true}, {}, {}}}
	classes := slices.SortedFunc(maps.Keys(r.classes), func(x, y string) int {
		return cmp.Or(r.classes[y]-r.classes[x], stageOrder(x)-stageOrder(y), cmp.Compare(x, y))
	})
	for _, class := range classes {
		t.Add(screen.C(""), screen.C(strconv.Itoa(r.classes[class])), screen.C(class))
	}
	t.Write(out, r.style)
}

func stageOrder(class string) int {
	return slices.IndexFunc(verdict.Stages, func(s verdict.Stage) bool {
		return len(class) > len(s) && class[:len(s)+1] == string(s)+"."
	})
}
