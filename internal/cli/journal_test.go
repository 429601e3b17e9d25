package cli

import (
	"strings"
	"testing"

	"github.com/coreos/go-systemd/v22/journal"
	"go.uber.org/zap"
)

func TestTheJournalGetsFieldsOfItsOwn(t *testing.T) {
	type entry struct {
		message string
		p       journal.Priority
		fields  map[string]string
	}
	var got []entry
	core := newJournalCore(zap.InfoLevel).(*journalCore)
	core.send = func(m string, p journal.Priority, f map[string]string) error {
		got = append(got, entry{m, p, f})
		return nil
	}
	log := zap.New(core).With(zap.String("check", "catalogue"))
	log.Debug("unheard")
	log.Info("moved", zap.String("endpoint", "http://192.0.2.1:8080"), zap.Int64("pause_ms", 30000), zap.String("what to do", "wait\nand see"))
	log.Error("redis is away")
	if len(got) != 2 {
		t.Fatal(got)
	}
	first := got[0]
	for name, want := range map[string]string{"CHECK": "catalogue", "ENDPOINT": "http://192.0.2.1:8080", "PAUSE_MS": "30000", "WHAT_TO_DO": "wait\nand see"} {
		if first.fields[name] != want {
			t.Errorf("%s is %q", name, first.fields[name])
		}
	}
	if !strings.HasPrefix(first.message, "moved") || !strings.Contains(first.message, "192.0.2.1") || first.p != journal.PriInfo {
		t.Errorf("%+v", first)
	}
	if got[1].p != journal.PriErr || got[1].fields["CHECK"] != "catalogue" || got[1].fields["ENDPOINT"] != "" {
		t.Errorf("%+v", got[1])
	}
}
