package screen

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Span tells a duration in one unit, as a person would: 350 ms, 4.2 s, 12 s, 3 m, 2.5 h, 4 d.
func Span(d time.Duration) string {
	if d < 0 {
		d = -d
	}
	switch {
	case d < time.Millisecond && d > 0:
		return "under 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return trim(d.Seconds()) + " s"
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f m", d.Minutes())
	case d < 10*time.Hour:
		return trim(d.Hours()) + " h"
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f d", d.Hours()/24)
}

// trim writes one decimal, and none where it would be a zero.
func trim(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}

// When tells one moment as seen from another, both in ms: "in 4 m", "12 s ago", "now".
func When(ms, now int64) string {
	d := time.Duration(ms-now) * time.Millisecond
	switch {
	case d > -time.Second && d < time.Second:
		return "now"
	case d > 0:
		return "in " + Span(d)
	}
	return Span(d) + " ago"
}

// Ago is When for a time that may be missing.
func Ago(ms, now int64) string {
	if ms == 0 {
		return "never"
	}
	return When(ms, now)
}

// Clock tells a moment of pool time in local time; with the day where it is not today.
func Clock(ms, now int64) string {
	t := time.UnixMilli(ms)
	if t.Format(time.DateOnly) == time.UnixMilli(now).Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// Count tells how many of something: "1 endpoint", "12 endpoints", "2 proxies".
func Count(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, found := strings.CutSuffix(one, "xy"); found {
		return Number(n) + " " + stem + "xies"
	}
	return Number(n) + " " + one + "s"
}

// Number writes thousands apart: 12,345.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
