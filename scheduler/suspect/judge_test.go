package suspect

import (
	"fmt"
	"strings"
	"testing"
)

var rules = Rules{After: 3, Workers: 1, WithinMs: 60_000, QuietMs: 60_000, RecheckMs: 300_000, Stretch: 1}

// story is a list of reports: "bad A 10" is a bad one of worker A at second 10; a number
// after it is the worker's own time.
func story(t *testing.T, lines ...string) (all []Report) {
	t.Helper()
	for i, line := range lines {
		var kind, worker string
		var at int64
		said := int64(i) + 1
		if n, _ := fmt.Sscan(line, &kind, &worker, &at, &said); n < 3 {
			t.Fatal(line)
		}
		all = append(all, Report{Entry: fmt.Sprint(i), AtMs: at * 1000, Endpoint: "e", Failed: kind == "bad", Worker: worker,
			Mark: fmt.Sprint(kind, worker, said), Stage: "connect", Reason: "refused"})
	}
	return all
}

func TestEnoughBadReportsHaveTheEndpointProbed(t *testing.T) {
	two := rules
	two.Workers = 2
	for _, c := range []struct {
		name    string
		rules   Rules
		facts   Facts
		lines   []string
		ask     bool
		dropped string
	}{
		{"three in a row", rules, Facts{}, []string{"bad A 100", "bad A 101", "bad A 102"}, true, ""},
		{"two are too few", rules, Facts{}, []string{"bad A 100", "bad A 101"}, false, ""},
		{"good ones do not count", rules, Facts{}, []string{"bad A 100", "good A 101", "bad A 102"}, false, ""},
		{"within the window", rules, Facts{}, []string{"bad A 100", "bad A 101", "bad A 159"}, true, ""},
		{"one fell out of the window", rules, Facts{}, []string{"bad A 100", "bad A 101", "bad A 160"}, false, ""},
		{"a second worker must agree", two, Facts{}, []string{"bad A 100", "bad A 101", "bad A 102", "bad A 103"}, false, ""},
		{"a second worker agrees", two, Facts{}, []string{"bad A 100", "bad A 101", "bad A 102", "bad B 103"}, true, ""},
		{"one told three times", rules, Facts{}, []string{"bad A 100 7", "bad A 101 7", "bad A 102 7"}, false, "repeated 2"},
		{"two workers with the same clock", rules, Facts{}, []string{"bad A 100 7", "bad B 101 7", "bad C 102 7"}, true, ""},
		{"the probe after them answers", rules, Facts{LastProbeMs: 102_000}, []string{"bad A 100", "bad A 101", "bad A 102"}, false, "answered 3"},
		{"a probe between them answers the first", rules, Facts{LastProbeMs: 100_500}, []string{"bad A 100", "bad A 101", "bad A 102"}, false, "answered 1"},
		{"in another order", rules, Facts{}, []string{"bad A 102", "bad B 100", "bad A 101"}, true, ""},
		{"one that comes long after its time", rules, Facts{}, []string{"bad A 200", "bad B 140", "bad A 201"}, false, "answered 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := State{}.Judge(story(t, c.lines...), c.facts, c.rules, 500_000, 0)
			if j.Ask != c.ask {
				t.Errorf("asked for: %v; %+v", j.Ask, j.Next)
			}
			var dropped []string
			for _, cause := range Dropped {
				if n := j.Tally[cause]; n > 0 {
					dropped = append(dropped, fmt.Sprint(cause, " ", n))
				}
			}
			if got := strings.Join(dropped, " "); got != c.dropped {
				t.Errorf("dropped %q, want %q", got, c.dropped)
			}
		})
	}
}

func TestAfterItWasAskedForTheCountStartsAgain(t *testing.T) {
	j := State{}.Judge(story(t, "bad A 100", "bad A 101", "bad B 102"), Facts{}, rules, 102_000, 0)
	if !j.Ask || j.Detail != "3 bad reports by 2 workers within 1m0s" || j.Stage != "connect" || j.Reason != "refused" {
		t.Fatalf("%+v", j)
	}
	s := Decode(j.Asked.Encode())
	if len(s.Bad) != 0 || s.AskedMs != 102_000 || s.EndsMs(rules) != 162_000 {
		t.Fatalf("%+v", s)
	}
	if j := s.Judge(story(t, "bad A 102 1", "bad A 105 2", "bad A 106 21", "bad A 107 22"), Facts{}, rules, 107_000, 0); j.Ask ||
		j.Tally[Repeated] != 2 || j.Tally[Applied] != 2 {
		t.Errorf("the same reports again: %+v", j)
	}
	again := s.Judge(story(t, "bad A 110 11", "bad A 111 12", "bad A 112 13", "bad A 113 14"), Facts{}, rules, 113_000, 0)
	if again.Ask {
		t.Error("asked for twice within the quiet time")
	}
	if later := again.Next.Judge(story(t, "bad A 162 15"), Facts{}, rules, 162_000, 0); !later.Ask {
		t.Error("not asked for after the quiet time, with reports all along")
	}
	if later := again.Next.Judge(story(t, "bad A 162 15"), Facts{LastProbeMs: 150_000}, rules, 162_000, 0); later.Ask {
		t.Error("asked for although a probe answered all but one")
	}
}

// Until it is granted, the request is made again with each report.
func TestARequestThatIsNotGrantedIsMadeAgain(t *testing.T) {
	j := State{}.Judge(story(t, "bad A 100", "bad A 101", "bad A 102"), Facts{}, rules, 102_000, 0)
	if !j.Ask {
		t.Fatal(j)
	}
	if again := j.Next.Judge(story(t, "bad A 110 9"), Facts{}, rules, 110_000, 0); !again.Ask {
		t.Errorf("%+v", again)
	}
}

func TestGoodReportsPutTheRecheckOff(t *testing.T) {
	s := rules
	s.Stretch = 4
	two := s
	two.Workers = 2
	proven := Facts{LastProbeMs: 50_000, Proven: true, DueMs: 350_000}
	with := func(edit func(*Facts)) Facts { f := proven; edit(&f); return f }
	three := []string{"good A 100", "good A 101", "good A 102"}
	for _, c := range []struct {
		name  string
		rules Rules
		facts Facts
		dice  float64
		lines []string
		due   int64
	}{
		{"an interval after the last", s, proven, 0, three, 402_000},
		{"scattered, only downwards", s, proven, 0.5, three, 387_000},
		{"not where the setting is off", rules, proven, 0, three, 0},
		{"two are too few", s, proven, 0, three[:2], 0},
		{"one told three times", s, proven, 0, []string{"good A 100 7", "good A 101 7", "good A 102 7"}, 0},
		{"a second worker must agree", two, proven, 0, three, 0},
		{"a bad one forbids it", s, proven, 0, append([]string{"bad B 99"}, three...), 0},
		{"a bad one afterwards too", s, proven, 0, append(three[:3:3], "bad B 103"), 0},
		{"a bad one an interval ago is forgotten", s, with(func(f *Facts) { f.DueMs = 405_000; f.LastProbeMs = 110_000 }), 0,
			[]string{"bad B 112", "good A 400", "good A 411", "good A 412"}, 712_000},
		{"the last probe failed", s, with(func(f *Facts) { f.Proven = false }), 0, three, 0},
		{"it waits elsewhere", s, with(func(f *Facts) { f.DueMs = 0 }), 0, three, 0},
		{"never shorter", s, with(func(f *Facts) { f.DueMs = 402_000 }), 0, three, 0},
		{"never beyond the bound", s, with(func(f *Facts) { f.LastProbeMs = 0; f.DueMs = 1_100_000 }), 0,
			[]string{"good A 1000", "good A 1001", "good A 1002"}, 1_200_000},
		{"at the bound it stays", s, with(func(f *Facts) { f.LastProbeMs = 0; f.DueMs = 1_200_000 }), 0,
			[]string{"good A 1100", "good A 1101", "good A 1102"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if j := (State{}).Judge(story(t, c.lines...), c.facts, c.rules, 500_000, c.dice); j.DueMs != c.due {
				t.Errorf("due at %d, want %d; %+v", j.DueMs, c.due, j.Next)
			}
		})
	}
}

// Workers may report every success: what is remembered then hardly changes.
func TestPlentyOfGoodReportsCostNoWrites(t *testing.T) {
	r := rules
	r.Stretch = 2
	s, writes := State{}, 0
	for i := range 1000 {
		before := s.Encode()
		s = s.Judge(story(t, fmt.Sprintf("good A %d %d", 100+i/10, i)), Facts{}, r, 0, 0).Next
		if s.Encode() != before {
			writes++
		}
	}
	if writes < 10 || writes > 25 { // one in 6 s of 100 s
		t.Errorf("%d writes", writes)
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	r := Rules{After: 5, Workers: 4, WithinMs: 1e9, QuietMs: 1e9, RecheckMs: 1e9, Stretch: 2}
	s := State{AskedMs: 1}
	for i := range 2000 {
		s = s.Judge([]Report{{AtMs: 1000 + int64(i), Failed: i%2 == 0, Worker: fmt.Sprint(i % 7), Mark: fmt.Sprint(i)}}, Facts{}, r, 0, 0).Next
	}
	if len(s.Bad) > r.After+r.Workers || len(s.Good) > r.After+r.Workers || len(s.Done) > doneKept || len(s.Done) < doneKept {
		t.Errorf("%d bad, %d good, %d done", len(s.Bad), len(s.Good), len(s.Done))
	}
}

func TestAStateIsReadBackAsWritten(t *testing.T) {
	j := State{}.Judge(story(t, "bad A 100", "good A 101", "bad B 102"), Facts{}, Rules{After: 9, WithinMs: 1e6, RecheckMs: 1e6, Stretch: 2}, 0, 0)
	if raw := j.Next.Encode(); Decode(raw).Encode() != raw || len(raw) < 100 {
		t.Error(raw)
	}
	if (State{}).Encode() != "" || Decode("").Encode() != "" || Decode("rubbish").Encode() != "" {
		t.Error("nothing is not nothing")
	}
}
