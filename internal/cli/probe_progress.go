package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"proxyward/internal/cli/screen"
)

// progress is one line on standard error that tells how far a long job is. A nil one
// tells nothing: nobody watches, or there is nothing to wait for.
type progress struct {
	w     io.Writer
	style screen.Style
	total int
	began time.Time
	drawn time.Time
}

const (
	progressWidth = 24
)

func (a *app) newProgress(total int) *progress {
	style := screen.For(a.err, a.getenv)
	if total < 2 || !style.Terminal {
		return nil
	}
	return &progress{w: a.err, style: style, total: total, began: time.Now()}
}

// clear takes the line away, so that something else can be printed.
func (p *progress) clear() {
	if p != nil && !p.drawn.IsZero() {
		io.WriteString(p.w, "\r\x1b[K")
	}
}

// draw tells so many passed and failed.
func (p *progress) draw(passed, failed int) {
	if p == nil {
		return
	}
	p.drawn = time.Now()
	io.WriteString(p.w, screen.Shorten(p.line(passed, failed, time.Since(p.began)), p.style.Width-1))
}

func (p *progress) line(passed, failed int, spent time.Duration) string {
	done := passed + failed
	full := progressWidth * done / p.total
	left := ""
	if rest := spent * time.Duration(p.total-done) / time.Duration(max(1, done)); rest >= time.Second {
		left = ", about " + screen.Span(rest.Round(time.Second)) + " left"
	}
	return fmt.Sprintf("%s%s %d of %d: %d passed, %d failed%s", strings.Repeat("█", full), strings.Repeat("░", progressWidth-full),
		done, p.total, passed, failed, left)
}
