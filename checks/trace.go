package checks

import (
	"bytes"
	"strings"
	"time"

	"proxyward/checks/verdict"
)

const masked = "***"

func (p *probe) trace(kind, text string) {
	if p.opts.Trace == nil {
		return
	}
	p.opts.Trace(Trace{At: time.Since(p.start), Stage: p.stage, Kind: kind, Text: verdict.Clean(p.mask(text))})
}

func (p *probe) traceHead(b []byte) { p.traceLines("got", b) }

// traceLines shows a head line by line. Of headers that nobody knows to be harmless only
// the name is shown.
func (p *probe) traceLines(kind string, b []byte) {
	if p.opts.Trace == nil {
		return
	}
	for line := range bytes.Lines(b) {
		if text := strings.TrimRight(string(line), "\r\n"); text != "" {
			p.trace(kind, maskLine(text))
		}
	}
}

// telling are headers, sent or received, that say who speaks and why, and hold no secret.
var telling = map[string]bool{
	"Server": true, "Via": true, "Date": true, "Age": true, "X-Squid-Error": true, "Proxy-Status": true, "Proxy-Authenticate": true,
	"Www-Authenticate": true, "Retry-After": true, "Content-Encoding": true, "Transfer-Encoding": true, "Proxy-Connection": true,
	"Proxy-Agent": true, "X-Cache": true, "X-Cache-Lookup": true, "Cache-Control": true, "Vary": true,
}

func maskLine(line string) string {
	name, _, ok := strings.Cut(line, ":")
	if !ok || strings.Contains(name, " ") { // the request or status line
		if i := strings.IndexByte(line, '?'); i >= 0 && !strings.HasPrefix(line, "HTTP/") {
			rest := line[i:]
			line = line[:i+1] + masked
			if j := strings.LastIndexByte(rest, ' '); j >= 0 {
				line += rest[j:]
			}
		}
		return line
	}
	if key := canonicalName(name); !harmless[key] && !telling[key] {
		return name + ": " + masked
	}
	return line
}

// mask takes every secret of this probe out of a text, whoever wrote it there.
func (p *probe) mask(text string) string {
	if text == "" {
		return ""
	}
	if pw := p.ep.Password(); pw != "" {
		text = maskAll(text, basic(p.ep.User, pw)[len("Basic "):])
		if len(pw) > 2 { // one or two letters stand in every text; to mask them would show them
			text = maskAll(text, pw)
		}
	}
	if p.req != nil {
		text = maskAll(text, p.req.secrets...)
	}
	if p.step != nil && p.step.req != p.req {
		text = maskAll(text, p.step.req.secrets...)
	}
	return text
}

func maskAll(text string, secrets ...string) string {
	for _, s := range secrets {
		if s != "" && strings.Contains(text, s) {
			text = strings.ReplaceAll(text, s, masked)
		}
	}
	return text
}
