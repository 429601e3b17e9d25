package checks

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// head is the head of an HTTP/1 response (RFC 9112 section 4 and 5). It is lenient where
// old proxies need it (LF alone, no reason phrase, no blank after the status, lines that
// are no fields) and strict where leniency would hide who says what.
type head struct {
	status int
	phrase string
	fields []field // names as they came
}

var (
	errNotHTTP   = errors.New("no HTTP status line")
	errMalformed = errors.New("malformed response head")
)

// headEnd finds the end of the head in b: the index after the blank line, or 0 where
// it has not come yet. from is where to look on.
func headEnd(b []byte, from int) int {
	for i := max(from-3, 0); i < len(b); {
		k := bytes.IndexByte(b[i:], '\n')
		if k < 0 {
			return 0
		}
		i += k + 1
		if i < len(b) && b[i] == '\n' {
			return i + 1
		}
		if i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n' {
			return i + 2
		}
	}
	return 0
}

// plausible reports whether b can be the beginning of an HTTP response in text. A version
// other than 1.x is somebody's slip: no HTTP/2 begins like that.
func plausible(b []byte) bool {
	const sign = "HTTP/"
	n := min(len(b), len(sign))
	return strings.EqualFold(string(b[:n]), sign[:n])
}

// parseHead reads a whole head, blank line included.
func parseHead(b []byte) (head, error) {
	var h head
	line, rest := cutLine(b)
	if err := h.statusLine(line); err != nil {
		return h, err
	}
	h.fields = make([]field, 0, 12)
	text := string(rest) // one allocation for all names and values
	for text != "" {
		var one string
		one, text, _ = strings.Cut(text, "\n")
		one = strings.TrimSuffix(one, "\r")
		if one == "" {
			break
		}
		if strings.IndexByte(one, 0) >= 0 {
			return h, errMalformed
		}
		h.field(one)
	}
	return h, nil
}

func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}

func (h *head) statusLine(line []byte) error {
	version, rest, _ := bytes.Cut(line, []byte{' '})
	if !plausible(line) || len(version) < len("HTTP/1") {
		return errNotHTTP
	}
	rest = bytes.TrimLeft(rest, " ")
	if !isVersion(version[len("HTTP/"):]) || len(rest) < 3 || len(rest) > 3 && rest[3] != ' ' && rest[3] != '\t' {
		return errMalformed
	}
	for _, c := range rest[:3] {
		if c < '0' || c > '9' {
			return errMalformed
		}
		h.status = h.status*10 + int(c-'0')
	}
	if h.status < 100 {
		return errMalformed
	}
	h.phrase = string(bytes.TrimSpace(rest[3:]))
	return nil
}

// isVersion takes 1, 1.0, 1.1, 2.0 and the like.
func isVersion(v []byte) bool {
	return len(v) <= 3 && len(bytes.Trim(v, "0123456789.")) == 0 && v[0] != '.'
}

// field takes one line. A continuation (RFC 9112 section 5.2) joins the line before it;
// a line without a colon is passed over, as browsers do.
func (h *head) field(line string) {
	if line[0] == ' ' || line[0] == '\t' {
		if n := len(h.fields); n > 0 {
			h.fields[n-1].value += " " + strings.Trim(line, " \t")
		}
		return
	}
	name, value, ok := strings.Cut(line, ":")
	if ok {
		h.fields = append(h.fields, field{strings.TrimRight(name, " \t"), strings.Trim(value, " \t")})
	}
}

// get is the first value of that name; "" where there is none.
func (h *head) get(name string) string {
	for i := range h.fields {
		if len(h.fields[i].name) == len(name) && strings.EqualFold(h.fields[i].name, name) {
			return h.fields[i].value
		}
	}
	return ""
}

func (h *head) has(name string) bool {
	for i := range h.fields {
		if len(h.fields[i].name) == len(name) && strings.EqualFold(h.fields[i].name, name) {
			return true
		}
	}
	return false
}

// all is every value of that name, in order.
func (h *head) all(name string) []string {
	var out []string
	for i := range h.fields {
		if len(h.fields[i].name) == len(name) && strings.EqualFold(h.fields[i].name, name) {
			out = append(out, h.fields[i].value)
		}
	}
	return out
}

// list is all values of a comma-separated field, in lower case.
func (h *head) list(name string) []string {
	var out []string
	for _, v := range h.all(name) {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.ToLower(strings.TrimSpace(part)); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// framing is how long the body is (RFC 9112 section 6.3).
type framing struct {
	chunked bool
	length  int64 // -1: until the connection closes
}

func (h *head) framing(method string) (framing, error) {
	if method == "HEAD" || h.status == 204 || h.status == 304 {
		return framing{}, nil
	}
	if codings := h.list("Transfer-Encoding"); len(codings) > 0 {
		if codings[len(codings)-1] == "identity" {
			codings = codings[:len(codings)-1]
		}
		switch {
		case len(codings) == 1 && codings[0] == "chunked":
			return framing{chunked: true, length: -1}, nil
		case len(codings) > 0:
			return framing{}, errMalformed // gzip as a transfer coding: nobody asked for it
		}
	}
	lengths := h.list("Content-Length")
	if len(lengths) == 0 {
		return framing{length: -1}, nil
	}
	for _, l := range lengths[1:] {
		if l != lengths[0] { // RFC 9110 section 8.6
			return framing{}, errMalformed
		}
	}
	n, err := strconv.ParseUint(lengths[0], 10, 62)
	if err != nil {
		return framing{}, errMalformed
	}
	return framing{length: int64(n)}, nil
}
