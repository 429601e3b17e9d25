package checks

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a peer may ask for: no word of a stranger is a life sentence.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads Retry-After (RFC 9110 section 10.2.3). A date is counted from the peer's
// own Date where it gives one: its clock may be wrong, the difference is not.
func retryAfter(h *head) time.Duration {
	now := time.Now()
	if t, err := http.ParseTime(h.get("Date")); err == nil {
		now = t
	}
	return parseRetryAfter(h.get("Retry-After"), now)
}

// parseRetryAfter gives 0 for what is missing, past or not understood.
func parseRetryAfter(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if v == "" {
		return 0
	}
	if whole, _, _ := strings.Cut(v, "."); whole != "" && strings.Trim(v, "0123456789.") == "" {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || n > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(n) * time.Second
	}
	t, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return max(0, min(t.Sub(now), maxRetryAfter))
}
