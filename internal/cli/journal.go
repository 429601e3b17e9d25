package cli

import (
	"fmt"
	"maps"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"
	"go.uber.org/zap/zapcore"
)

// inJournal reports whether standard error is the journal: then entries go there with
// fields of their own, so that `journalctl ENDPOINT=…` finds them.
func inJournal() bool {
	is, err := journal.StderrIsJournalStream()
	return is && err == nil
}

// journalCore is a zap core that writes to systemd's journal: each field under its name in
// upper case (systemd.journal-fields(7)), and the message with the fields a reader wants.
type journalCore struct {
	zapcore.LevelEnabler
	fields map[string]any
	line   zapcore.Encoder // what MESSAGE says
	send   func(message string, p journal.Priority, fields map[string]string) error
}

func newJournalCore(enabled zapcore.LevelEnabler) zapcore.Core {
	line := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{MessageKey: "msg", ConsoleSeparator: "  ",
		EncodeDuration: zapcore.StringDurationEncoder, SkipLineEnding: true})
	return &journalCore{enabled, nil, line, journal.Send}
}

// With makes a core whose entries all have the fields.
func (c *journalCore) With(fields []zapcore.Field) zapcore.Core {
	all := zapcore.NewMapObjectEncoder()
	maps.Copy(all.Fields, c.fields)
	line := c.line.Clone()
	for _, f := range fields {
		f.AddTo(all)
		f.AddTo(line)
	}
	return &journalCore{c.LevelEnabler, all.Fields, line, c.send}
}

// Check adds this core to an entry it writes.
func (c *journalCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return to.AddCore(e, c)
	}
	return to
}

// Write sends one entry.
func (c *journalCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	line, err := c.line.Clone().EncodeEntry(e, fields)
	if err != nil {
		return err
	}
	defer line.Free()
	all := c.With(fields).(*journalCore)
	vars := map[string]string{}
	for name, v := range all.fields {
		vars[journalName(name)] = fmt.Sprint(v)
	}
	return c.send(line.String(), priority(e.Level), vars)
}

// Sync has nothing to do: every entry is sent at once.
func (c *journalCore) Sync() error { return nil }

// journalName makes a field's name one that the journal takes.
func journalName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, name)
}

func priority(l zapcore.Level) journal.Priority {
	switch {
	case l >= zapcore.DPanicLevel:
		return journal.PriCrit
	case l == zapcore.ErrorLevel:
		return journal.PriErr
	case l == zapcore.WarnLevel:
		return journal.PriWarning
	case l == zapcore.InfoLevel:
		return journal.PriInfo
	}
	return journal.PriDebug
}
