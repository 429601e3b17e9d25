package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"proxyward/internal/cli/screen"
	"proxyward/internal/cli/tell"
	"proxyward/internal/operate"
	"proxyward/store/record"
)

// printStatus writes one block per check.
func printStatus(w io.Writer, style screen.Style, redis string, checks []operate.Check) error {
	var b strings.Builder
	if len(checks) == 0 {
		fmt.Fprintf(&b, "no checks in the Redis at %s yet: start one with `proxyward run --list FILE --target URL`\n", redis)
	}
	for i, c := range checks {
		if i > 0 {
			b.WriteByte('\n')
		}
		headOf(c, &b, style)
		statesOf(c, &b, style)
		for _, words := range warningsOf(c) {
			fmt.Fprintf(&b, "  %s\n", style.Paint(screen.Warn, "! "+words))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// headOf is the line with the check's name.
func headOf(c operate.Check, b *strings.Builder, style screen.Style) {
	total := int64(0)
	for _, n := range c.States {
		total += n
	}
	last := "no result yet"
	if c.LastCommitMs > 0 {
		last = "last result " + screen.When(c.LastCommitMs, c.NowMs)
	}
	if c.Jobs > 0 {
		last = screen.Count(c.Jobs, "live job") + ", " + last
	}
	fmt.Fprintf(b, "%s  %s, %s, %s being probed, %s\n", style.Paint(screen.Bold, c.Name), screen.Count(total, "endpoint"),
		screen.Count(int64(len(c.Daemons)), "daemon"), screen.Number(c.Leases), last)
}

// statesOf is a line per state: how many, and what the lane they wait in is about to do.
func statesOf(c operate.Check, b *strings.Builder, style screen.Style) {
	t := screen.Table{Columns: []screen.Column{{}, {}, {Right: true}, {}}}
	for _, state := range record.States {
		n := c.States[string(state)]
		ink := tell.StateInk(state)
		if n == 0 {
			ink = screen.Faint
		}
		t.Add(screen.C(""), screen.Cell{Text: string(state), Ink: ink}, screen.C(screen.Number(n)), screen.C(outlookOf(c, state)))
	}
	if n := c.Lanes[string(record.Urgent)]; n > 0 {
		t.Add(screen.C(""), screen.Cell{Text: "urgent", Ink: screen.News}, screen.C(screen.Number(n)), screen.C("asked for, waiting for a slot"))
	}
	t.Write(b, style)
}

// outlookOf says what comes next for the endpoints of a state.
func outlookOf(c operate.Check, state record.State) string {
	lane := state.Lane()
	q := c.Status.Lanes[lane]
	switch {
	case state == record.Disabled || c.States[string(state)] == 0:
		return ""
	case state == record.Permitted:
		return "on trial now"
	case state == record.Cooling && q.Due > 0:
		words := screen.Number(q.Due) + " over, waiting for the trickle"
		if c.Trickle > 0 {
			words += fmt.Sprintf(" (%d at a time)", c.Trickle)
		}
		return words
	case q.Due > 0:
		return screen.Number(q.Due) + " due now"
	case q.NextMs > 0:
		return "next probe " + screen.When(q.NextMs, c.NowMs)
	}
	return ""
}

// warningsOf are what an operator should know of.
func warningsOf(c operate.Check) (found []string) {
	if len(c.Daemons) == 0 {
		found = append(found, "no daemon is alive: nobody probes; workers go on with who is eligible")
	}
	if c.Stray {
		found = append(found, "not in the configuration: `proxyward purge --check "+c.Name+"` removes it")
	}
	if c.Guard.Open {
		found = append(found, fmt.Sprintf("the guard has been open for %s: %s", screen.Span(time.Duration(c.NowMs-c.Guard.SinceMs)*time.Millisecond), c.Guard.Why))
	}
	return found
}
