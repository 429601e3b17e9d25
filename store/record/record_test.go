package record_test

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"proxyward/store/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func full() record.Record {
	return record.Record{
		State: record.Cooling, SinceMs: 1, UntilMs: 2, PauseMs: 3, By: record.ByProbe,
		Stage: "tunnel", Reason: "refused", Blame: "proxy", Detail: "connection refused", Rise: 4, Fall: 5,
		Classes: map[string]record.Count{"tunnel.refused": {N: 6, AtMs: 7}, "body.timeout": {N: 1, AtMs: 8}},
		Sources: []string{"a.txt", "b.txt"}, Holds: []record.Hold{record.Operator, record.Retired, record.Policy},
		HoldUntilMs: 9, Note: "broken", URLRev: 10, LastProbeMs: 11, LastOKMs: 12, LatencyMs: 13,
		History: []record.Step{
			{To: record.Candidate, By: record.BySource, AtMs: 14},
			{From: record.Candidate, To: record.Cooling, Stage: "tunnel", Reason: "refused", Blame: "proxy",
				Detail: "connection refused", By: record.ByProbe, AtMs: 15, PauseMs: 16, UntilMs: 17, Probe: "0a1b2c3d4e5f6071-18"},
		},
		Allocations: 18,
	}
}

func TestRecordIsWrittenAsAgreed(t *testing.T) {
	const path = "testdata/full.json"
	got := full().Encode()
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.TrimSpace(string(want)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The script that takes a member out appends its allocations to the written record.
func TestAllocationsComeLast(t *testing.T) {
	r := full()
	whole := r.Encode()
	r.Allocations = 0
	if got := strings.TrimSuffix(r.Encode(), "}") + `,"allocations":18}`; got != whole {
		t.Errorf("appended: %s\nwritten:  %s", got, whole)
	}
}

// The golden record can only show that every field is written if it fills every field.
func TestGoldenRecordFillsEveryField(t *testing.T) {
	empty := func(path string, v reflect.Value) {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s.%s is empty in the golden record", path, v.Type().Field(i).Name)
			}
		}
	}
	r := full()
	empty("Record", reflect.ValueOf(r))
	empty("Step", reflect.ValueOf(r.History[1]))
	empty("Count", reflect.ValueOf(r.Classes["body.timeout"]))
}

func TestEmptyFieldsAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		name string
		rec  record.Record
		want string
	}{
		{"nothing but a state", record.Record{State: record.Candidate}, `{"state":"candidate"}`},
		{"empty lists", record.Record{State: record.Eligible, Classes: map[string]record.Count{}, Sources: []string{},
			Holds: []record.Hold{}, History: []record.Step{}}, `{"state":"eligible"}`},
		{"counts are never left out", record.Record{State: record.Cooling, Classes: map[string]record.Count{"body.eof": {}}},
			`{"state":"cooling","classes":{"body.eof":{"n":0,"at_ms":0}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.rec.Encode(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRecordIsReadBackAsWritten(t *testing.T) {
	for name, r := range map[string]record.Record{"full": full(), "least": {State: record.Disabled}} {
		back, err := record.Decode(r.Encode())
		if err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%s: read back %+v, %v, want %+v", name, back, err, r)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"nothing", "", "unexpected end"},
		{"no JSON", "cooling", "invalid character"},
		{"half a record", `{"state":"cooling"`, "unexpected end"},
		{"two records", `{"state":"cooling"}{}`, "after top-level value"},
		{"a list", `[]`, "cannot unmarshal"},
		{"null", `null`, `unknown state ""`},
		{"no state", `{}`, `unknown state ""`},
		{"another state", `{"state":"dead"}`, `unknown state "dead"`},
		{"a state in capitals", `{"state":"Cooling"}`, `unknown state "Cooling"`},
		{"text for a time", `{"state":"cooling","until_ms":"soon"}`, "until_ms"},
		{"a fraction of a millisecond", `{"state":"cooling","until_ms":1.5}`, "until_ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := record.Decode(c.raw)
			if err == nil || !strings.HasPrefix(err.Error(), "decode record: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Decode(%s): %v, want one about %q", c.raw, err, c.want)
			}
		})
	}
}

func TestDecodeIgnoresFieldsOfLaterVersions(t *testing.T) {
	r, err := record.Decode(`{"state":"cooling","mood":"bad","until_ms":5}`)
	if err != nil || r.State != record.Cooling || r.UntilMs != 5 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A record of a version that wrote no probe into its steps is read, and written again, as it was.
func TestAStepWithoutAProbeStaysSo(t *testing.T) {
	const old = `{"state":"cooling","history":[{"from":"eligible","to":"cooling","by":"probe","at_ms":1,"until_ms":2}]}`
	r, err := record.Decode(old)
	if err != nil || r.History[0].Probe != "" || r.Encode() != old {
		t.Errorf("read %+v, %v, written %s", r, err, r.Encode())
	}
}

func TestCloneSharesNothing(t *testing.T) {
	r := full()
	before := r.Encode()
	c := r.Clone()
	if !reflect.DeepEqual(c, r) {
		t.Fatalf("the clone differs: %+v, want %+v", c, r)
	}
	scribble(reflect.ValueOf(&c).Elem())
	if r.Encode() != before {
		t.Errorf("writing to the clone changed the original to %s", r.Encode())
	}
	if empty := (record.Record{State: record.Eligible}); !reflect.DeepEqual(empty.Clone(), empty) {
		t.Errorf("the clone of an empty record is %+v", empty.Clone())
	}
}

// scribble overwrites everything reachable through lists and maps.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			v.Index(i).SetZero()
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		}
	}
}

func TestEachStateWaitsInOneLane(t *testing.T) {
	want := map[record.State]record.Lane{
		record.Candidate: record.CandidateQueue, record.Eligible: record.Recheck, record.Cooling: record.Recovery,
		record.Permitted: record.Recovery, record.Disabled: record.NoLane,
	}
	for _, s := range record.States {
		lane, known := want[s]
		if !known || s.Lane() != lane {
			t.Errorf("%s waits in %s, want %s", s, s.Lane(), lane)
		}
		if lane != record.NoLane && !slices.Contains(record.Lanes, lane) {
			t.Errorf("lane %s is not listed", lane)
		}
	}
	if len(record.States) != len(want) {
		t.Errorf("%d states are listed, want %d", len(record.States), len(want))
	}
}

func TestStepNamesAreThoseOfTheEventStream(t *testing.T) {
	raw, err := json.Marshal(full().History[1])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"from":"candidate","to":"cooling","stage":"tunnel","reason":"refused","blame":"proxy",` +
		`"detail":"connection refused","by":"probe","at_ms":15,"pause_ms":16,"until_ms":17,"probe":"0a1b2c3d4e5f6071-18"}`
	if string(raw) != want {
		t.Errorf("got %s, want %s", raw, want)
	}
}
