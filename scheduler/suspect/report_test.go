package suspect

import (
	"strings"
	"testing"

	"proxyward/store/record"
)

func raw(edit func(*record.Report)) record.Report {
	r := record.Report{Entry: "5-1", AtMs: 1000, Size: 200, Endpoint: "http://10.0.0.1:3128", Outcome: "failed",
		Stage: "connect", Reason: "refused", Worker: "w1", WorkerMs: "1700000000000"}
	edit(&r)
	return r
}

func TestReportsThatAreNotWellFormedAreDropped(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		name string
		edit func(*record.Report)
		want Cause
	}{
		{"as it should be", func(*record.Report) {}, Applied},
		{"without stage, reason, worker and time", func(r *record.Report) { r.Stage, r.Reason, r.Worker, r.WorkerMs = "", "", "", "" }, Applied},
		{"words nobody knows", func(r *record.Report) { r.Stage, r.Reason = "It broke!", "\x1b[31m" }, Applied},
		{"capitals", func(r *record.Report) { r.Outcome = "OK" }, Applied},
		{"no endpoint", func(r *record.Report) { r.Endpoint = "" }, Malformed},
		{"no outcome", func(r *record.Report) { r.Outcome = "" }, Malformed},
		{"another outcome", func(r *record.Report) { r.Outcome = "meh" }, Malformed},
		{"a time in words", func(r *record.Report) { r.WorkerMs = "now" }, Malformed},
		{"a time below zero", func(r *record.Report) { r.WorkerMs = "-5" }, Malformed},
		{"a time beyond all", func(r *record.Report) { r.WorkerMs = "99999999999999999999" }, Malformed},
		{"a time in floats", func(r *record.Report) { r.WorkerMs = "1e12" }, Malformed},
		{"a long endpoint", func(r *record.Report) { r.Endpoint = long(record.LongestReport + 1) }, Oversized},
		{"a long worker", func(r *record.Report) { r.Worker = long(129) }, Oversized},
		{"a long stage", func(r *record.Report) { r.Stage = long(65) }, Oversized},
		{"a long reason", func(r *record.Report) { r.Reason = long(65) }, Oversized},
		{"a long outcome", func(r *record.Report) { r.Outcome = long(65) }, Oversized},
		{"a long time", func(r *record.Report) { r.WorkerMs = long(65) }, Oversized},
		{"much beside", func(r *record.Report) { r.Size = 1 << 20 }, Oversized},
		{"a URL with a password", func(r *record.Report) { r.Endpoint = "http://joe:secret@10.0.0.1:3128" }, Password},
		{"the same without scheme", func(r *record.Report) { r.Endpoint = "joe:secret@10.0.0.1:3128" }, Password},
		{"the same as in a list", func(r *record.Report) { r.Endpoint = "10.0.0.1:3128:joe:secret" }, Password},
		{"an at sign in the password", func(r *record.Report) { r.Endpoint = "http://joe:sec@ret@10.0.0.1:3128" }, Password},
		{"a user alone", func(r *record.Report) { r.Endpoint = "http://joe%3Asecret@10.0.0.1:3128" }, Applied},
		{"an address of six", func(r *record.Report) { r.Endpoint = "socks5h://[2001:db8::1]:1080" }, Applied},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, got := Read(raw(c.edit)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestOutcomesAreReadAsWorkersWriteThem(t *testing.T) {
	for word, failed := range map[string]bool{"passed": false, "ok": false, "success": false, "failed": true, "fail": true, "error": true, "Failure": true} {
		if r, cause := Read(raw(func(r *record.Report) { r.Outcome = word })); cause != Applied || r.Failed != failed {
			t.Errorf("%s: failed %v, %s", word, r.Failed, cause)
		}
	}
}

// What is free text counts, but it is shown to nobody: it could hold anything.
func TestOnlyPlainWordsAreShown(t *testing.T) {
	for said, shown := range map[string]string{"refused": "refused", "too_slow": "too_slow", "It broke": "", "\x1b[2J": "", "": ""} {
		r, cause := Read(raw(func(r *record.Report) { r.Stage, r.Reason = said, said }))
		if cause != Applied || r.Stage != shown || r.Reason != shown {
			t.Errorf("%q: %q %q %s", said, r.Stage, r.Reason, cause)
		}
	}
}

func TestTheMarkTellsARepetition(t *testing.T) {
	first, _ := Read(raw(func(*record.Report) {}))
	for name, c := range map[string]struct {
		edit func(*record.Report)
		same bool
	}{
		"the same entry written again":        {func(r *record.Report) { r.Entry, r.AtMs = "6-1", 2000 }, true},
		"the same with other words":           {func(r *record.Report) { r.Stage, r.Reason = "", "" }, true},
		"at another time":                     {func(r *record.Report) { r.WorkerMs = "1700000000001" }, false},
		"of another worker":                   {func(r *record.Report) { r.Worker = "w2" }, false},
		"of another outcome":                  {func(r *record.Report) { r.Outcome = "passed" }, false},
		"without a time: an entry of its own": {func(r *record.Report) { r.WorkerMs = "" }, false},
	} {
		if r, _ := Read(raw(c.edit)); (r.Mark == first.Mark) != c.same {
			t.Errorf("%s: the same mark: %v", name, r.Mark == first.Mark)
		}
	}
	if first.Worker == "w1" || strings.Contains(first.Mark, "w1") {
		t.Error("a worker's name is kept in the clear")
	}
}
