package configs

import (
	"math"
	"strconv"
	"strings"
	"time"

	"proxyward/checks"
	"proxyward/scheduler"
)

const day = 24 * time.Hour

// parseSpan reads a duration: Go's, and days as in 30d or 1d12h.
func parseSpan(s string) (time.Duration, bool) {
	days, rest, hasDays := strings.Cut(s, "d")
	var total time.Duration
	if hasDays {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || n < 0 || n > 36500 || !plainNumber(days) {
			return 0, false
		}
		total = time.Duration(n * float64(day))
		if rest == "" {
			return total, true
		}
		s = rest
	}
	more, err := time.ParseDuration(s)
	if err != nil || more < 0 || more > 36500*day {
		return 0, false
	}
	return total + more, true
}

// writeSpan is the shortest form that parseSpan reads back.
func writeSpan(d time.Duration) string {
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

var sizes = []struct {
	unit string
	n    int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

// parseSize reads bytes: 65536, 64KiB, 1.5MiB.
func parseSize(s string) (int64, bool) {
	factor := int64(1)
	for _, u := range sizes {
		if digits, ok := strings.CutSuffix(s, u.unit); ok {
			s, factor = strings.TrimSpace(digits), u.n
			break
		}
	}
	n, ok := parseNumber(s)
	if bytes := n * float64(factor); ok && bytes < 1<<53 {
		return int64(bytes), true
	}
	return 0, false
}

func writeSize(n int64) any {
	for _, u := range []string{"GiB", "MiB", "KiB"} {
		for _, known := range sizes {
			if known.unit == u && n >= known.n && n%known.n == 0 {
				return strconv.FormatInt(n/known.n, 10) + u
			}
		}
	}
	return n
}

// parseRate reads events per second: 200, 200/s, 60/m, 1000/h.
func parseRate(s string) (float64, bool) {
	count, per, found := strings.Cut(s, "/")
	seconds, known := map[string]float64{"s": 1, "m": 60, "h": 3600}[strings.TrimSpace(per)]
	if found && !known {
		return 0, false
	}
	if !found {
		seconds = 1
	}
	n, ok := parseNumber(strings.TrimSpace(count))
	return n / seconds, ok
}

func writeRate(f float64) any { return strconv.FormatFloat(f, 'g', -1, 64) + "/s" }

// parseShare reads a fraction: 0.5 or 50%.
func parseShare(s string) (float64, bool) {
	if percent, ok := strings.CutSuffix(s, "%"); ok {
		n, ok := parseNumber(strings.TrimSpace(percent))
		return n / 100, ok
	}
	return parseNumber(s)
}

// parseNumber reads a decimal number that is not negative.
func parseNumber(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && plainNumber(s) && !math.IsInf(f, 0)
}

// plainNumber keeps out signs, hexadecimal, underscores, exponents, infinities and NaN.
func plainNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789.") == "" }

// parseFloor reads a number of endpoints or a share of them.
func parseFloor(s string) (scheduler.Floor, bool) {
	if strings.HasSuffix(s, "%") {
		share, ok := parseShare(s)
		return scheduler.Floor{Share: share}, ok && share <= 1
	}
	n, err := strconv.Atoi(s)
	return scheduler.Floor{Count: n}, err == nil && n >= 0
}

// parseInitial reads the score of a new member; -1 stands for the lowest in the pool.
func parseInitial(s string) (int64, bool) {
	if s == "min" {
		return -1, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && 0 <= n && n <= 1<<53
}

// parseStatus reads one status or a range: 200, 200-299.
func parseStatus(s string) (checks.StatusRange, bool) {
	low, high, isRange := strings.Cut(s, "-")
	if !isRange {
		high = low
	}
	from, err1 := strconv.Atoi(strings.TrimSpace(low))
	to, err2 := strconv.Atoi(strings.TrimSpace(high))
	sound := err1 == nil && err2 == nil && 200 <= from && from <= to && to <= 599
	return checks.StatusRange{From: from, To: to}, sound
}
