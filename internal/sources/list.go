package sources

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"proxyward/checks/endpoint"
)

// MaxLines is how many lines with content a list may have. A longer one is an error as a
// whole: half a list would retire the other half.
const MaxLines = 2_000_000

// MaxLineBytes is how long a line may be; a longer one is rejected without being held.
const MaxLineBytes = 8 << 10

// List is what a list of proxies says, line by line. Every line that is not blank and not
// a comment stands in exactly one of the three.
type List struct {
	Accepted   []Accepted  `json:"accepted"`
	Rejected   []Rejected  `json:"rejected"`
	Duplicates []Duplicate `json:"duplicates"`
}

// Accepted is a line that names an endpoint for the first time.
type Accepted struct {
	Line     int               `json:"line"`
	Endpoint endpoint.Endpoint `json:"endpoint"`
}

// Rejected is a line that names no endpoint.
type Rejected struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"` // holds no part of the line
}

// Duplicate is a line that names an endpoint again. The first line counts, its password
// with it: a list read twice gives the same answer however it was appended to.
type Duplicate struct {
	Line     int               `json:"line"`
	Endpoint endpoint.Endpoint `json:"endpoint"`

	First         int  `json:"-"` // the line that was accepted
	OtherPassword bool `json:"-"` // this line has another password than the accepted one
}

// Parse reads one endpoint a line: a URL, host:port, user:password@host:port or
// host:port:user:password, an IPv6 address always in brackets. Escapes are decoded before
// an @ as in a URL; in the four-part form user and password are taken as they stand.
// A # at the start of a line or after white space begins a comment.
//
// defaultScheme is that of lines without one; empty means http. Bad lines are not errors;
// an error means that the list could not be read to its end, and that what was read must
// not be taken for the whole.
func Parse(r io.Reader, defaultScheme string) (List, error) {
	return parse(r, defaultScheme, MaxLines)
}

func parse(r io.Reader, defaultScheme string, most int) (List, error) {
	if defaultScheme == "" {
		defaultScheme = "http"
	}
	defaultScheme = strings.ToLower(defaultScheme)
	if !slices.Contains(endpoint.Schemes, defaultScheme) {
		return List{}, fmt.Errorf("unknown default scheme: use one of %s", strings.Join(endpoint.Schemes, " "))
	}
	c := collector{
		List:   List{Accepted: []Accepted{}, Rejected: []Rejected{}, Duplicates: []Duplicate{}},
		scheme: defaultScheme,
		seen:   map[string]int{},
	}
	lines := newLineReader(r)
	for {
		line, err := lines.next()
		if err == io.EOF {
			return c.List, nil
		}
		if err != nil {
			return c.List, fmt.Errorf("read line %d: %w", lines.number, err)
		}
		if c.entries() == most && len(content(line.text)) > 0 {
			return c.List, fmt.Errorf("line %d: more than %d entries: split the list", lines.number, most)
		}
		c.add(lines.number, line)
	}
}

// collector puts each line into its class.
type collector struct {
	List
	scheme string
	seen   map[string]int // endpoint id → index in Accepted
}

func (c *collector) entries() int { return len(c.Accepted) + len(c.Rejected) + len(c.Duplicates) }

func (c *collector) add(number int, l line) {
	if l.tooLong {
		c.Rejected = append(c.Rejected, Rejected{number, fmt.Sprintf("a line over %d KiB: write one endpoint a line", MaxLineBytes>>10)})
		return
	}
	text := content(l.text)
	if len(text) == 0 {
		return
	}
	e, err := parseEndpoint(text, c.scheme)
	if err != nil {
		c.Rejected = append(c.Rejected, Rejected{number, err.Error()})
		return
	}
	id := e.ID()
	if i, again := c.seen[id]; again {
		first := c.Accepted[i]
		c.Duplicates = append(c.Duplicates, Duplicate{
			Line: number, Endpoint: e, First: first.Line, OtherPassword: first.Endpoint.Password() != e.Password(),
		})
		return
	}
	c.seen[id] = len(c.Accepted)
	c.Accepted = append(c.Accepted, Accepted{number, e})
}
