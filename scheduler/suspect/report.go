package suspect

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"proxyward/store/record"
)

// Cause says why a report was dropped, or that it was not.
type Cause string

// The causes. Each is counted.
const (
	Applied    Cause = "applied"    // it counts
	Malformed  Cause = "malformed"  // a field that must be there is not, or cannot be read
	Oversized  Cause = "oversized"  // a field, or all of them, beyond the limit
	Password   Cause = "password"   // it names an endpoint by a URL with a password in it
	Unknown    Cause = "unknown"    // the pool has no such endpoint
	Ineligible Cause = "ineligible" // the endpoint is not in the eligible set
	Repeated   Cause = "repeated"   // the same worker's same report again
	Answered   Cause = "answered"   // the endpoint was probed, or is going to be, since it was written
	Lost       Cause = "lost"       // trimmed before it was applied, or never to be applied
)

// Dropped lists the causes for which a report comes to nothing.
var Dropped = []Cause{Malformed, Oversized, Password, Unknown, Ineligible, Repeated, Answered, Lost}

// Report is one worker's report that is well formed.
type Report struct {
	Entry    string
	AtMs     int64 // pool time at which it was written, by Redis's clock
	Endpoint string
	Failed   bool
	Stage    string // a plain word, or empty
	Reason   string // a plain word, or empty
	Worker   string // a digest of the worker's name
	Mark     string // a digest: the same in a repeated report
}

// The words of an outcome.
var outcomes = map[string]bool{ // whether it failed
	"passed": false, "pass": false, "ok": false, "success": false,
	"failed": true, "fail": true, "failure": true, "error": true,
}

// Bytes that a report may have.
const (
	longestWorker = 128
	longestWord   = 64
	longestTotal  = record.LongestReport + 1024
)

// Read checks a report. Any other cause than Applied says why it is dropped.
func Read(raw record.Report) (Report, Cause) {
	r := Report{Entry: raw.Entry, AtMs: raw.AtMs, Endpoint: raw.Endpoint, Stage: plain(raw.Stage), Reason: plain(raw.Reason)}
	failed, known := outcomes[strings.ToLower(raw.Outcome)]
	switch {
	case raw.Size > longestTotal, len(raw.Endpoint) > record.LongestReport, len(raw.Worker) > longestWorker,
		len(raw.Stage) > longestWord, len(raw.Reason) > longestWord, len(raw.Outcome) > longestWord, len(raw.WorkerMs) > longestWord:
		return r, Oversized
	case raw.Endpoint == "", !known, !moment(raw.WorkerMs):
		return r, Malformed
	case hasPassword(raw.Endpoint):
		return r, Password
	}
	said := raw.WorkerMs
	if said == "" { // nothing tells a repetition: each entry is a report of its own
		said = raw.Entry
	}
	r.Failed, r.Worker = failed, digest(raw.Worker)
	r.Mark = digest(raw.Worker, strconv.FormatBool(failed), said)
	return r, Applied
}

// moment reports whether s is empty or a time in milliseconds.
func moment(s string) bool {
	ms, err := strconv.ParseInt(s, 10, 64)
	return s == "" || err == nil && ms > 0
}

// plain is s where it is a word like those of a verdict: what is free text is counted, but
// shown to nobody.
func plain(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return s
}

// hasPassword sees a password in what should be an endpoint's id, in the forms of a URL and
// of a list: an id's user has no colon in it.
func hasPassword(s string) bool {
	_, rest, scheme := strings.Cut(s, "://")
	if !scheme {
		rest = s
	}
	user := rest[:max(strings.LastIndexByte(rest, '@'), 0)]
	return strings.Contains(user, ":") || !strings.Contains(rest, "[") && strings.Count(rest, ":") > 2
}

// digest is short, and the same for the same words.
func digest(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:6])
}
