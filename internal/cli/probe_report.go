package cli

import (
	"cmp"
	"context"
	"fmt"
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
	asJSON  bool
	verbose bool
	began   time.Time

	passed, failed int
	classes        map[string]int // failures by stage.reason
	fault          error          // of writing
}

func (r *probeReport) add(one result) {
	v := one.verdict
	if r.classes == nil {
		r.classes = map[string]int{}
	}
	if v.Passed {
		r.passed++
	} else {
		r.failed++
		r.classes[v.Class()]++
	}
	var err error
	switch {
	case r.asJSON:
		if r.verbose { // the data stays alone on standard output
			r.conversation(r.app.err, one)
		}
		err = r.app.printJSON(r.json(one))
	case r.total == 1:
		err = r.waterfall(one)
	default:
		if r.verbose {
			r.conversation(r.app.out, one)
		}
		err = r.line(one)
	}
	r.fault = cmp.Or(r.fault, err)
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
	text := fmt.Sprintf("  %8s  %3s  %-42s", screen.Span(v.Total), status, one.endpoint.ID())
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
	if !r.asJSON && r.total > 1 {
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
