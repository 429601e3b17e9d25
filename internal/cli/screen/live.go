package screen

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Live is a picture redrawn in place on a terminal. Not for concurrent use.
type Live struct {
	w     io.Writer
	lines int // of the picture that stands
	begun bool
}

// NewLive draws on w, which must be a terminal.
func NewLive(w io.Writer) *Live { return &Live{w: w} }

// Draw replaces the picture. It is cut at the screen's height: what is above the screen
// cannot be redrawn.
func (l *Live) Draw(picture []byte) error {
	lines := strings.Split(strings.TrimRight(string(picture), "\n"), "\n")
	if height := Height(l.w); height > 1 && len(lines) > height-1 {
		lines = append(lines[:height-2], "…")
	}
	var b bytes.Buffer
	if !l.begun {
		b.WriteString("\x1b[?25l") // hide the cursor
		l.begun = true
	}
	if l.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", l.lines)
	}
	width := Width(l.w)
	for _, line := range lines {
		b.WriteString("\r" + Cut(line, width) + "\x1b[K\n") // a line that wraps would be two
	}
	b.WriteString("\x1b[J")
	l.lines = len(lines)
	_, err := l.w.Write(b.Bytes())
	return err
}

// End leaves the picture and gives the cursor back.
func (l *Live) End() {
	if l.begun {
		io.WriteString(l.w, "\x1b[?25h")
	}
	l.lines, l.begun = 0, false
}

// Cut shortens a painted line to so many columns; 0: not at all.
func Cut(line string, width int) string {
	if width <= 0 {
		return line
	}
	columns, painted := 0, false
	for i := 0; i < len(line); {
		if line[i] == '\x1b' {
			end := strings.IndexByte(line[i:], 'm')
			if end < 0 {
				return line[:i]
			}
			i, painted = i+end+1, true
			continue
		}
		if columns == width {
			if painted {
				return line[:i] + "\x1b[0m"
			}
			return line[:i]
		}
		_, n := utf8.DecodeRuneInString(line[i:])
		i, columns = i+n, columns+1
	}
	return line
}
