package checks

import "time"

// Spec is a check as its author wrote it: one step, or several run in order with one
// cookie jar. Zero values mean the defaults named at each field.
type Spec struct {
	Name  string
	Steps []Step
}

// Step is one request and what its answer must be.
type Step struct {
	Name    string
	Request Request
	Expect  Expect
}

// Request is what is sent to the target.
type Request struct {
	Method          string            // empty: GET
	URL             string            // http or https, with a host; may contain {nonce}
	Headers         map[string]string // sent as they are; Host overrides the URL's
	Body            string
	Timeout         time.Duration // the whole transaction, every stage in it; 0: 15 s
	Timeouts        Timeouts
	FollowRedirects int      // how many; 0: none, a redirect is an answer like any other
	RedirectTo      []string // origins (scheme://host[:port]) beside the own one that a redirect may lead to
	HTTP2           string   // auto, never, require; empty: auto
	TLS             TLS      // to an https target
	ProxyTLS        TLS      // to https proxies
}

// Timeouts bound single stages, each inside the whole Timeout; 0: only the whole bounds it.
type Timeouts struct {
	Connect   time.Duration // resolve and connect; 0: 5 s
	Handshake time.Duration // each TLS handshake, and each answer of the proxy; 0: 5 s
	FirstByte time.Duration // from the request's last byte to the answer's first; 0: 8 s
}

// TLS says how a peer's certificate is judged. Verification is never off.
type TLS struct {
	CAFile     string // PEM file; empty: the system's roots
	ServerName string // empty: the host's name
	MinVersion string // 1.2 or 1.3; empty: 1.2
	Resume     bool   // session resumption across the probes of this check: the target can tell that they belong together
}

// Expect is what the answer must be for the probe to pass. All of it must hold.
type Expect struct {
	Status       []StatusRange     // empty: 200-299
	BodyContains []string          // each must occur
	BodyMatches  string            // RE2
	BodyExcludes []string          // none may occur
	BodySHA256   string            // hex; the exact body after decoding
	Headers      map[string]string // name to RE2 that the value must match
	MaxHeaders   int64             // bytes; 0: 64 KiB
	MaxBody      int64             // bytes after decoding; 0: 256 KiB
	MaxLatency   time.Duration     // total; 0: no limit but the timeout
}

// StatusRange is an inclusive range of HTTP status codes.
type StatusRange struct{ From, To int }
