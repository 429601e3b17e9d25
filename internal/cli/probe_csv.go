package cli

import (
	"encoding/csv"
	"strconv"
	"time"

	"proxyward/checks/verdict"
)

// csvPrinter prints the head line before the first result; a stage that was not entered
// is an empty field.
func (r *probeReport) csvPrinter() func(result) error {
	w := csv.NewWriter(r.app.out)
	head := []string{"endpoint", "check", "passed", "stage", "reason", "blame", "detail", "status", "bytes", "total_ms", "retry_after_ms"}
	for _, stage := range verdict.Stages {
		head = append(head, string(stage)+"_ms")
	}
	begun := false
	return func(one result) error {
		if !begun {
			w.Write(head)
			begun = true
		}
		w.Write(r.csvRow(one))
		w.Flush()
		return w.Error()
	}
}

func (r *probeReport) csvRow(one result) []string {
	v := one.verdict
	row := []string{one.endpoint.ID(), r.check, strconv.FormatBool(v.Passed), string(v.Stage), string(v.Reason), string(v.Blame),
		v.Detail, strconv.Itoa(v.Status), strconv.FormatInt(v.Bytes, 10), csvMs(v.Total), strconv.FormatInt(v.RetryAfter.Milliseconds(), 10)}
	for _, stage := range verdict.Stages {
		field := ""
		if d, entered := v.Timings[stage]; entered {
			field = csvMs(d)
		}
		row = append(row, field)
	}
	return row
}

func csvMs(d time.Duration) string { return strconv.FormatFloat(milliseconds(d), 'f', -1, 64) }
