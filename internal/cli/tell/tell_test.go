package tell_test

import (
	"strings"
	"testing"

	"proxyward/checks/verdict"
	"proxyward/internal/cli/tell"
	"proxyward/store"
	"proxyward/store/record"
)

const now = 1_800_000_000_000

func entry(r record.Record, lanes map[record.Lane]int64) store.Entry {
	return store.Entry{ID: "http://192.0.2.1:1", Raw: "x", Record: r, Lanes: lanes}
}

func TestWhatComesNext(t *testing.T) {
	cooling := record.Record{State: record.Cooling, Stage: "connect", Reason: "refused"}
	probing := entry(cooling, nil)
	probing.Leased, probing.LeaseMs = true, now+20_000
	for _, c := range []struct {
		name  string
		entry store.Entry
		at    int64
		words string
		soon  string
	}{
		{"cooling", entry(cooling, map[record.Lane]int64{record.Recovery: now + 240_000}), now + 240_000, "(in 4 m), then one trial probe", "in 4 m"},
		{"cooling and over", entry(cooling, map[record.Lane]int64{record.Recovery: now - 5}), now - 5, "as soon as the trickle admits it", "due"},
		{"on trial", probing, now + 20_000, "is being probed now", "probing"},
		{"eligible", entry(record.Record{State: record.Eligible}, map[record.Lane]int64{record.Recheck: now + 9_000}), now + 9_000, "checked again in 9 s", "in 9 s"},
		{"asked for", entry(record.Record{State: record.Eligible}, map[record.Lane]int64{record.Urgent: 7}), now, "somebody asked for it", "asked for"},
		{"new", entry(record.Record{State: record.Candidate}, map[record.Lane]int64{record.CandidateQueue: now + 2_000}), now + 2_000, "first probe in 2 s", "in 2 s"},
		{"lost", entry(cooling, nil), 0, "proxyward fsck", "?"},
		{"held for a while", entry(record.Record{State: record.Disabled, Holds: []record.Hold{record.Operator}, HoldUntilMs: now + 7_200_000}, nil), now + 7_200_000, "hold ends in 2 h", "free in 2 h"},
		{"held", entry(record.Record{State: record.Disabled, Holds: []record.Hold{record.Operator}}, nil), 0, "proxyward enable", "–"},
		{"retired", entry(record.Record{State: record.Disabled, Holds: []record.Hold{record.Retired}}, nil), 0, "until a list names it again", "–"},
	} {
		t.Run(c.name, func(t *testing.T) {
			next := tell.NextOf(c.entry, now)
			if next.AtMs != c.at || !strings.Contains(next.Words, c.words) {
				t.Errorf("next %+v, want at %d and %q", next, c.at, c.words)
			}
			if soon := tell.Soon(c.entry, now); soon != c.soon {
				t.Errorf("soon %q, want %q", soon, c.soon)
			}
		})
	}
}

func TestWhyItStandsThere(t *testing.T) {
	failed := func(s record.State) record.Record {
		return record.Record{State: s, Stage: "connect", Reason: "refused", Detail: "nobody listens"}
	}
	doubted := failed(record.Eligible)
	doubted.Fall = 1
	for _, c := range []struct {
		name   string
		record record.Record
		want   string
	}{
		{"cooling", failed(record.Cooling), "connect.refused: nobody listens"},
		{"eligible", record.Record{State: record.Eligible}, ""},
		{"eligible in doubt", doubted, "in doubt after 1 failure: connect.refused"},
		{"eligible, kept", failed(record.Eligible), "not its fault: connect.refused"},
		{"new", record.Record{State: record.Candidate}, "not judged yet"},
		{"candidate, kept", failed(record.Candidate), "undecided: connect.refused"},
		{"held", record.Record{State: record.Disabled, Holds: []record.Hold{record.Operator, record.Retired}, Note: "abuse"}, "by an operator; gone from every list: abuse"},
	} {
		if got := tell.Why(entry(c.record, nil)); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEveryFailureHasAdviceAndBlame(t *testing.T) {
	for _, e := range verdict.Table {
		for _, stage := range e.Stages {
			if tell.Advice(string(stage), string(e.Reason), string(e.Blame)) == "" || tell.Blamed(string(e.Blame)) == "" {
				t.Errorf("nothing to say about %s %s, blame %s", stage, e.Reason, e.Blame)
			}
		}
	}
}

func TestAdviceDoesNotBlameTheWrongOne(t *testing.T) {
	for _, e := range verdict.Table {
		for _, stage := range e.Stages {
			words := tell.Advice(string(stage), string(e.Reason), string(e.Blame))
			if e.Blame == verdict.Target && strings.Contains(words, "in the list") {
				t.Errorf("%s %s is the target's, yet: %s", stage, e.Reason, words)
			}
		}
	}
}
