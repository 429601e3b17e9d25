package screen_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"proxyward/internal/cli/screen"
)

func TestSpansAreToldInOneUnit(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 ms": 0, "under 1 ms": time.Microsecond, "350 ms": 350 * time.Millisecond, "4.2 s": 4200 * time.Millisecond, "5 s": 5 * time.Second,
		"12 s": 12 * time.Second, "99 s": 99 * time.Second, "2 m": 2 * time.Minute, "90 m": 90 * time.Minute,
		"2.5 h": 150 * time.Minute, "24 h": 24 * time.Hour, "3 d": 72 * time.Hour,
	} {
		if got := screen.Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestMomentsAreToldFromNow(t *testing.T) {
	const now = 1_800_000_000_000
	for want, ms := range map[string]int64{"now": now - 400, "in 4 m": now + 240_000, "12 s ago": now - 12_000, "never": 0} {
		if got := screen.Ago(ms, now); got != want {
			t.Errorf("Ago(%d) = %q, want %q", ms-now, got, want)
		}
	}
}

func TestNumbersAndPlurals(t *testing.T) {
	for want, got := range map[string]string{
		"1 endpoint": screen.Count(1, "endpoint"), "0 endpoints": screen.Count(0, "endpoint"), "2 proxies": screen.Count(2, "proxy"),
		"12,345 bytes": screen.Count(12345, "byte"), "-1,000": screen.Number(-1000), "999": screen.Number(999), "1,000,000": screen.Number(1_000_000),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func table() *screen.Table {
	t := &screen.Table{Columns: []screen.Column{{Head: "STATE"}, {Head: "N", Right: true}, {Head: "WHY"}}}
	t.Add(screen.Cell{Text: "eligible", Ink: screen.Good}, screen.C("7"), screen.C(""))
	t.Add(screen.C("out"), screen.C("1,200"), screen.C("höher als die Grenze, and a long story"))
	return t
}

func TestTablesAreAligned(t *testing.T) {
	var b bytes.Buffer
	if err := table().Write(&b, screen.Style{}); err != nil {
		t.Fatal(err)
	}
	want := "STATE         N  WHY\neligible      7\nout       1,200  höher als die Grenze, and a long story\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestTablesFitTheScreen(t *testing.T) {
	var b bytes.Buffer
	table().Write(&b, screen.Style{Width: 32})
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 32 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(b.String(), "höher als die…") && !strings.Contains(b.String(), "…") {
		t.Errorf("nothing tells that the text was cut:\n%s", b.String())
	}
}

func TestColourIsForTerminalsOnly(t *testing.T) {
	if got := (screen.Style{}).Paint(screen.Bad, "x"); got != "x" {
		t.Errorf("plain style paints: %q", got)
	}
	if got := (screen.Style{Colour: true}).Paint(screen.Bad, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("painted: %q", got)
	}
	if s := screen.For(&bytes.Buffer{}, func(string) string { return "" }); s != (screen.Style{}) {
		t.Errorf("a buffer is taken for a terminal: %+v", s)
	}
	var b, plain bytes.Buffer
	table().Write(&b, screen.Style{Colour: true})
	table().Write(&plain, screen.Style{})
	if stripped := strip(b.String()); stripped != plain.String() {
		t.Errorf("colour moves columns:\n%s\n%s", stripped, plain.String())
	}
}

// strip takes escape sequences out.
func strip(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		s = after[strings.IndexByte(after, 'm')+1:]
	}
}

func TestAPictureIsRedrawnInPlace(t *testing.T) {
	var b bytes.Buffer
	live := screen.NewLive(&b)
	live.Draw([]byte("one\ntwo\n"))
	live.Draw([]byte("three\n"))
	live.End()
	want := "\x1b[?25l\rone\x1b[K\n\rtwo\x1b[K\n\x1b[J" + "\x1b[2A\rthree\x1b[K\n\x1b[J" + "\x1b[?25h"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestANarrowScreenGetsShortLines(t *testing.T) {
	for in, want := range map[string]string{
		"plain text": "plain", "\x1b[31mrot und\x1b[0m so": "\x1b[31mrot u\x1b[0m", "äöüßé!": "äöüßé", "abc": "abc", "\x1b[31mabc\x1b[0m": "\x1b[31mabc\x1b[0m",
	} {
		if got := screen.Cut(in, 5); got != want {
			t.Errorf("%q is cut to %q, want %q", in, got, want)
		}
	}
}

func TestATerminalObeysNobodysCell(t *testing.T) {
	var b strings.Builder
	table := &screen.Table{Columns: []screen.Column{{}, {}}}
	table.Add(screen.C("a\x1b[31m\u202eb"), screen.C("c\r\nd"))
	if err := table.Write(&b, screen.Style{}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.ContainsAny(got, "\x1b\r\u202e") || strings.Count(got, "\n") != 1 || !strings.Contains(got, "[31m") {
		t.Errorf("%q", got)
	}
}
