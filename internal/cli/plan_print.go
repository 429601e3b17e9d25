package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"proxyward/internal/cli/screen"
	"proxyward/scheduler/plan"
)

// tellPlans prints what follows, and answers whether it can work: at the only size there
// is, or at the smallest of those shown.
func (a *app) tellPlans(f *planFlags, made []checkPlan, shared []plan.Warning) error {
	all := plansJSON{OK: !fatal(shared), Plans: []planJSON{}, Warnings: planWarnings(shared)}
	for _, one := range made {
		for i, p := range one.plans {
			all.OK = all.OK && (i > 0 || !fatal(p.Warnings))
			all.Plans = append(all.Plans, planJSONOf(one.name, one.pool.counted, p))
		}
	}
	if f.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else if err := a.printPlans(made, shared); err != nil {
		return err
	}
	if !all.OK {
		return quietNo
	}
	return nil
}

func fatal(list []plan.Warning) bool {
	for _, w := range list {
		if w.Fatal {
			return true
		}
	}
	return false
}

func (a *app) printPlans(made []checkPlan, shared []plan.Warning) error {
	style := a.style()
	var b strings.Builder
	for i, one := range made {
		if i > 0 {
			b.WriteByte('\n')
		}
		one.head(&b, style)
		if len(one.plans) > 1 {
			one.sizes(&b, style)
			continue
		}
		one.lines(&b, style)
		for _, w := range one.plans[0].Warnings {
			warn(&b, style, "  ", "", w)
		}
	}
	if len(shared) > 0 {
		fmt.Fprintf(&b, "\n%s\n", style.Paint(screen.Bold, "the daemon"))
	}
	for _, w := range shared {
		warn(&b, style, "  ", "", w)
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// warn is a warning and, below, what to change.
func warn(b *strings.Builder, style screen.Style, indent, when string, w plan.Warning) {
	ink, sign := screen.Warn, "! "
	if w.Fatal {
		ink, sign = screen.Bad, "! cannot work: "
	}
	fmt.Fprintf(b, "%s%s\n%s  %s\n", indent, style.Paint(ink, sign+when+w.What), indent, w.Mend)
}

func (c checkPlan) head(b *strings.Builder, style screen.Style) {
	s := c.plans[0].Settings
	fmt.Fprintf(b, "%s  %s, %s; a probe that passes takes %s, and %s at most\n", style.Paint(screen.Bold, c.name), c.pool.words,
		screen.Count(int64(s.Daemons), "daemon"), screen.Span(s.Latency), screen.Span(s.Timeout))
}

// planTable writes headings, and below each lines of a label, a figure and words.
type planTable struct {
	b     *strings.Builder
	style screen.Style
}

func (t *planTable) head(words string) {
	fmt.Fprintf(t.b, "  %s\n", t.style.Paint(screen.News, words))
}

func (t *planTable) line(label, figure, words string) {
	table := screen.Table{Columns: []screen.Column{{}, {}, {}}}
	table.Add(screen.C(fmt.Sprintf("    %-14s", label)), screen.C(fmt.Sprintf("%10s", figure)), screen.C(words))
	table.Write(t.b, t.style)
}

// lines are all that follows at one size.
func (c checkPlan) lines(b *strings.Builder, style screen.Style) {
	p, t := c.plans[0], &planTable{b, style}
	t.load(p)
	t.notice(p)
	t.back(p)
	t.memory(p.Memory)
}

func (t *planTable) load(p plan.Plan) {
	s := p.Settings
	t.head("probes of the target, a second")
	t.line("at rest", perSecond(p.Rest.PerSecond), "all eligible, each re-checked every "+longer(s.Policy.Recheck)+requests(s, p.Rest)+held(p.Rest))
	t.line("at worst", perSecond(p.Worst.PerSecond), "the target fails, or all come back"+requests(s, p.Worst)+held(p.Worst))
	t.line("in one second", perSecond(p.Burst), "what the rate may have saved up for a moment")
	t.line("good for", screen.Number(int64(p.Most)), "endpoints: so many are re-checked in time")
}

// requests tells what the probes are in requests, where that is another number.
func requests(s plan.Settings, l plan.Load) string {
	words := ""
	if s.Requests > 1 {
		words = "; " + perSecond(l.PerSecond*float64(s.Requests)) + " requests"
	}
	if s.MostRequests > s.Requests {
		words += "; " + perSecond(l.PerSecond*float64(s.MostRequests)) + " requests if all redirect"
	}
	return words
}

func held(l plan.Load) string {
	if l.Bound == plan.ByWork {
		return ""
	}
	return "; " + string(l.Bound) + " allows no more"
}

func (t *planTable) notice(p plan.Plan) {
	n := p.Notice
	t.head("until a dead endpoint is out")
	t.line("on average", longer(n.Mean), "it fails at once")
	words := "it died right after a probe, and hangs"
	if n.Bound != plan.ByWork {
		words += "; " + string(n.Bound) + " holds rechecks up"
	}
	t.line("at most", longer(n.Longest), words)
	if n.Recovering > n.Longest {
		t.line("", longer(n.Recovering), "while all of the pool comes back")
	}
	if n.Silent > n.Longest {
		t.line("", longer(n.Silent), "if all hang at once and no guard opens")
	}
	t.line("a new list", longer(p.First), "until all of it is judged")
}

func (t *planTable) back(p plan.Plan) {
	t.head("until endpoints are back after an outage, once they are due")
	for _, back := range p.Back {
		t.line(screen.Number(int64(back.Endpoints)), longer(back.Growing), longer(back.Steady)+" while more than a fifth of the trials fail")
	}
	t.head("until they are due, by how long it lasted")
	for _, w := range p.Wait {
		words := "at most"
		if w.Trials < p.Settings.Endpoints && w.Once < w.Longest {
			words += fmt.Sprintf("; %s for all but the %s that can be tried again meanwhile", longer(w.Once), screen.Number(int64(w.Trials)))
		}
		t.line(fmt.Sprintf("%g m", w.Outage.Minutes()), longer(w.Longest), words)
	}
}

func (t *planTable) memory(m plan.Memory) {
	t.head("memory in Redis")
	t.line("new", size(m.New), "never probed")
	t.line("in use", size(m.Grown), "all eligible, five transitions in each history")
	if m.Jobs > 0 {
		t.line("jobs", "+"+size(m.Jobs), "beside that: live jobs are counted, and each has one")
	}
	t.line("at most", size(m.Full+m.Events), "all cooling after five failures, and the last events")
}

// sizes is a line for each size, and what goes wrong from which on.
func (c checkPlan) sizes(b *strings.Builder, style screen.Style) {
	t := screen.Table{Columns: []screen.Column{{Head: "  ENDPOINTS", Right: true}, {Head: "AT REST", Right: true}, {Head: "AT WORST", Right: true},
		{Head: "NOTICED", Right: true}, {Head: "ALL BACK", Right: true}, {Head: "REDIS", Right: true}}}
	for _, p := range c.plans {
		t.Add(screen.C(screen.Number(int64(p.Settings.Endpoints))), screen.C(perSecond(p.Rest.PerSecond)+"/s"), screen.C(perSecond(p.Worst.PerSecond)+"/s"),
			screen.C(longer(p.Notice.Longest)), screen.C(longer(p.All.Growing)), screen.C(size(p.Memory.Full+p.Memory.Events)))
	}
	t.Write(b, style)
	fmt.Fprintf(b, "  good for %s\n", screen.Count(int64(c.plans[0].Most), "endpoint"))
	told := map[string]bool{}
	for i, p := range c.plans {
		for _, w := range p.Warnings {
			when := ""
			if i > 0 {
				when = "from " + screen.Number(int64(p.Settings.Endpoints)) + " endpoints on: "
			}
			if !told[w.Code] {
				warn(b, style, "  ", when, w)
			}
			told[w.Code] = true
		}
	}
}

// longer is screen.Span with two units where one would be rough.
func longer(d time.Duration) string {
	if d < 100*time.Second || d >= time.Hour {
		return screen.Span(d)
	}
	d = d.Round(time.Second)
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d m", d/time.Minute)
	}
	return fmt.Sprintf("%d m %d s", d/time.Minute, d%time.Minute/time.Second)
}

func perSecond(f float64) string {
	switch {
	case f >= 100:
		return screen.Number(int64(f + 0.5))
	case f >= 1:
		return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}

// size tells bytes in the unit that gives one to four digits.
func size(n int64) string {
	f := float64(n)
	for _, unit := range []string{"B", "kB", "MB"} {
		if f < 10 && unit != "B" {
			return strconv.FormatFloat(f, 'f', 1, 64) + " " + unit
		}
		if f < 1000 {
			return strconv.FormatFloat(f, 'f', 0, 64) + " " + unit
		}
		f /= 1000
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " GB"
}
