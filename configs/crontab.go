package configs

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// parseCron reads a cron expression: five fields, a descriptor, or @every.
func parseCron(s string) (string, bool) {
	if rest, ok := strings.CutPrefix(s, "@every "); ok {
		d, err := time.ParseDuration(strings.TrimSpace(rest))
		return s, err == nil && d >= time.Second
	}
	// The parser slices without looking where a time zone has no expression behind it.
	if strings.Contains(s, "TZ=") && len(strings.Fields(s)) < 2 {
		return "", false
	}
	schedule, err := cron.ParseStandard(s)
	if err != nil {
		return "", false
	}
	// 30 February parses, and never comes.
	return s, !schedule.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero()
}

// parseTick reads @every and whole seconds: cron rounds the rest away.
func parseTick(s string) (time.Duration, bool) {
	rest, ok := strings.CutPrefix(s, "@every ")
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(strings.TrimSpace(rest))
	return d, err == nil && d%time.Second == 0 && d >= time.Second && d <= time.Hour
}
