package screen

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Style is how text for one stream is dressed. The zero value is plain.
type Style struct {
	Colour   bool
	Terminal bool // a person watches: a picture may be redrawn in place
	Width    int  // columns; 0: no limit
}

// For looks at a stream and at the environment: colour only on a terminal, and never with
// NO_COLOR set (no-color.org) or on a dumb one.
func For(w io.Writer, getenv func(string) string) Style {
	f, ok := file(w)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Style{}
	}
	s := Style{Terminal: getenv("TERM") != "dumb"}
	s.Colour = s.Terminal && getenv("NO_COLOR") == ""
	s.Width = Width(w)
	return s
}

// Width is how many columns the terminal behind w has; 0 where it is none.
func Width(w io.Writer) int {
	if f, ok := file(w); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// Height is how many lines the terminal behind w shows; 0 where it is none.
func Height(w io.Writer) int {
	if f, ok := file(w); ok {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil {
			return height
		}
	}
	return 0
}

// Ink is a colour by what it says.
type Ink string

// The inks.
const (
	Plain Ink = ""
	Good  Ink = "32"  // green
	Bad   Ink = "31"  // red
	Warn  Ink = "33"  // yellow
	News  Ink = "36"  // cyan
	Faint Ink = "2"   // dim
	Bold  Ink = "1"   // bold
	Head  Ink = "1;4" // heads of columns
)

// Paint dresses text.
func (s Style) Paint(ink Ink, text string) string {
	if !s.Colour || ink == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(ink) + "m" + text + "\x1b[0m"
}

// file is the file that w writes to, perhaps through a wrapper.
func file(w io.Writer) (*os.File, bool) {
	if wrapper, ok := w.(interface{ Unwrap() io.Writer }); ok {
		w = wrapper.Unwrap()
	}
	f, ok := w.(*os.File)
	return f, ok
}
