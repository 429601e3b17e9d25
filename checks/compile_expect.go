package checks

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// expectation is an Expect, ready to be held against answers.
type expectation struct {
	status     []StatusRange
	contains   []string
	excludes   []string
	matches    *pattern
	sha256     []byte
	headers    []headerPattern
	maxHeaders int
	maxBody    int64
	maxLatency time.Duration
	hasNonce   bool
}

type headerPattern struct {
	name string // as written, for people
	pattern
}

// pattern is an RE2; one with {nonce} in it is compiled again for each probe.
type pattern struct {
	re    *regexp.Regexp
	nonce string // the source, where it holds {nonce}
}

func (p pattern) with(nonce string) *regexp.Regexp {
	if p.nonce == "" {
		return p.re
	}
	return regexp.MustCompile(strings.ReplaceAll(p.nonce, nonceMark, nonce))
}

func compileExpect(f faults, e Expect) *expectation {
	x := &expectation{status: e.Status, contains: e.BodyContains, excludes: e.BodyExcludes, maxLatency: e.MaxLatency}
	if len(x.status) == 0 {
		x.status = []StatusRange{{200, 299}}
	}
	for _, r := range x.status {
		if r.From < 200 || r.To > 999 || r.From > r.To {
			f.add("status", "impossible: write final statuses or ranges from 200 to 599, for example [200, 301-303]")
		}
	}
	x.maxHeaders = int(limit(f, "max_headers", e.MaxHeaders, defaultHeaders, 16<<20))
	x.maxBody = limit(f, "max_body", e.MaxBody, defaultBody, 256<<20)
	if e.MaxLatency < 0 {
		f.add("max_latency", "negative: write a duration, or leave it out for no limit")
	}
	for _, s := range slices.Concat(x.contains, x.excludes) {
		if s == "" {
			f.add("body_contains", "an empty text is in every page: write what must, or must not, occur")
		}
		x.hasNonce = x.hasNonce || strings.Contains(s, nonceMark)
	}
	if e.BodyMatches != "" {
		p := compilePattern(f, "body_matches", e.BodyMatches)
		x.matches = &p
		x.hasNonce = x.hasNonce || p.nonce != ""
	}
	if e.BodySHA256 != "" {
		sum, err := hex.DecodeString(e.BodySHA256)
		if err != nil || len(sum) != 32 {
			f.add("body_sha256", "not a SHA-256: write its 64 hexadecimal digits")
		}
		x.sha256 = sum
	}
	x.compileHeaders(f, e.Headers)
	return x
}

func (x *expectation) compileHeaders(f faults, headers map[string]string) {
	for name, source := range headers {
		if !httpguts.ValidHeaderFieldName(name) {
			f.add("headers", "%q is not a header name", name)
			continue
		}
		p := compilePattern(f, "headers."+name, source)
		x.headers = append(x.headers, headerPattern{name, p})
		x.hasNonce = x.hasNonce || p.nonce != ""
	}
	slices.SortFunc(x.headers, func(a, b headerPattern) int { return strings.Compare(a.name, b.name) })
}

func compilePattern(f faults, field, source string) pattern {
	re, err := regexp.Compile(strings.ReplaceAll(source, nonceMark, "n"))
	if err != nil {
		f.add(field, "not an RE2 regular expression: %s", err)
		return pattern{}
	}
	if strings.Contains(source, nonceMark) {
		return pattern{re, source}
	}
	return pattern{re: re}
}

func limit(f faults, field string, n, otherwise, most int64) int64 {
	if n < 0 || n > most {
		f.add(field, "out of range: write a size from 1 byte to %d MiB", most>>20)
	}
	if n <= 0 {
		return otherwise
	}
	return n
}

func (x *expectation) wantsStatus(code int) bool {
	for _, r := range x.status {
		if r.From <= code && code <= r.To {
			return true
		}
	}
	return false
}
