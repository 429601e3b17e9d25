package configs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"proxyward/checks"
	"proxyward/scheduler"
)

// The kinds of field, each made for one target.

func anyText(to *text) value    { return free{to: to} }
func secretText(to *text) value { return hidden{to} }
func textList(to *[]text) value { return texts{to} }
func textMap(to *map[string]text) value {
	return dict[text]{to: to, fields: anyText}
}

func word[T ~string](to *T, words ...string) value {
	return scalar[T]{to: to, want: oneOf(words), is: func() schema { return schema{"enum": words} },
		parse: func(s string) (T, bool) { return T(s), slices.Contains(words, s) }}
}

func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func boolean(to *bool) value {
	return scalar[bool]{to: to, want: "true or false", bare: true, is: func() schema { return schema{"type": "boolean"} },
		parse: func(s string) (bool, bool) { return s == "true", s == "true" || s == "false" }}
}

func whole(to *int, least, most int) value {
	return scalar[int]{to: to, want: fmt.Sprintf("a whole number from %d to %d", least, most), bare: true,
		is: func() schema { return schema{"type": "integer", "minimum": least, "maximum": most} },
		parse: func(s string) (int, bool) {
			n, err := strconv.Atoi(s)
			return n, err == nil && least <= n && n <= most
		}}
}

func number(to *float64, least, most float64) value {
	return scalar[float64]{to: to, want: fmt.Sprintf("a number from %g to %g", least, most), bare: true,
		is: func() schema { return schema{"type": "number", "minimum": least, "maximum": most} },
		parse: func(s string) (float64, bool) {
			f, ok := parseNumber(s)
			return f, ok && least <= f && f <= most
		}}
}

func share(to *float64) value {
	return scalar[float64]{to: to, want: "a share from 0 to 1, or per cent: 0.5 or 50%",
		is: func() schema {
			return schema{"anyOf": []schema{{"type": "number", "minimum": 0, "maximum": 1}, pattern(`^[0-9.]+ *%$`)}}
		},
		parse: func(s string) (float64, bool) {
			f, ok := parseShare(s)
			return f, ok && f <= 1
		}}
}

// instant is the least duration that is one.
const instant = time.Millisecond

// span is a duration of at least the given length.
func span(to *time.Duration, least time.Duration) value {
	want := "a duration such as 250ms, 30s, 5m or 30d"
	if least > 0 {
		want += ", at least " + writeSpan(least)
	}
	return scalar[time.Duration]{to: to, want: want, is: func() schema { return pattern(`^([0-9.]+(ns|us|µs|ms|s|m|h|d))+$|^0$`) },
		shown: func(d time.Duration) any { return writeSpan(d) },
		parse: func(s string) (time.Duration, bool) {
			d, ok := parseSpan(s)
			return d, ok && d >= least
		}}
}

func size(to *int64) value {
	return scalar[int64]{to: to, want: "a size such as 512, 64KiB or 1MiB, at least 1", shown: writeSize,
		is: func() schema {
			return schema{"anyOf": []schema{{"type": "integer", "minimum": 1}, pattern(`^[0-9.]+ *([KMG]iB|[kKMG]?B)?$`)}}
		},
		parse: func(s string) (int64, bool) {
			n, ok := parseSize(s)
			return n, ok && n >= 1
		}}
}

func rate(to *float64) value {
	return scalar[float64]{to: to, want: "a rate such as 200/s, 60/m or 1000/h, over 0", shown: writeRate,
		is: func() schema {
			return schema{"anyOf": []schema{{"type": "number", "exclusiveMinimum": 0}, pattern(`^[0-9.]+ */ *[smh]$`)}}
		},
		parse: func(s string) (float64, bool) {
			f, ok := parseRate(s)
			return f, ok && f > 0 && f <= 1e6
		}}
}

func crontab(to *string) value {
	return scalar[string]{to: to, want: `a cron expression: "*/10 * * * *", @hourly or "@every 1m" (1s at least)`,
		is: func() schema { return schema{"type": "string"} }, parse: parseCron}
}

func tick(to *time.Duration) value {
	return scalar[time.Duration]{to: to, want: `"@every 1s", in whole seconds up to 1h (other cron expressions follow the wall clock)`,
		is: func() schema { return pattern(`^@every +[0-9hms]+$`) }, parse: parseTick,
		shown: func(d time.Duration) any { return "@every " + writeSpan(d) }}
}

func floor(to *scheduler.Floor) value {
	return scalar[scheduler.Floor]{to: to, want: "a number of endpoints or per cent of them: 20 or 10%; 0 is off", parse: parseFloor,
		is: func() schema {
			return schema{"anyOf": []schema{{"type": "integer", "minimum": 0}, pattern(`^[0-9.]+ *%$`)}}
		},
		shown: func(f scheduler.Floor) any { return f.Count }}
}

func initial(to *int64) value {
	return scalar[int64]{to: to, want: "min or a whole number from 0", parse: parseInitial,
		is:    func() schema { return schema{"anyOf": []schema{{"const": "min"}, {"type": "integer", "minimum": 0}}} },
		shown: func(int64) any { return "min" }}
}

// statuses is a list of statuses and ranges.
type statuses struct{ to *[]checks.StatusRange }

func (f statuses) read(d *decoder, n *node, path string) {
	if !d.expect(n, listKind, path) {
		return
	}
	*f.to = make([]checks.StatusRange, len(n.items))
	for i, item := range n.items {
		one := scalar[checks.StatusRange]{to: &(*f.to)[i], want: "a final status or a range: 200 or 200-299", parse: parseStatus}
		d.visit(one, item, item.at, fmt.Sprintf("%s[%d]", path, i))
	}
}
