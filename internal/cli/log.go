package cli

import (
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"proxyward/internal/cli/screen"
)

// newLog is the daemon's log on standard error: JSON for machines, console for people, and
// fields of its own where that is systemd's journal. Its
// level can be changed.
func (a *app) newLog(level, format string) (*zap.Logger, zap.AtomicLevel, error) {
	at := zap.NewAtomicLevel()
	first, err := levelOf(level)
	if err != nil {
		return nil, at, err
	}
	at.SetLevel(first)
	e := zap.NewProductionEncoderConfig()
	e.TimeKey, e.EncodeTime = "at", zapcore.RFC3339NanoTimeEncoder
	e.EncodeDuration = zapcore.StringDurationEncoder
	if inJournal() && format == "json" {
		return zap.New(newJournalCore(at)), at, nil
	}
	var encoder zapcore.Encoder
	switch format {
	case "json":
		encoder = zapcore.NewJSONEncoder(e)
	case "console":
		e.EncodeTime = func(t time.Time, out zapcore.PrimitiveArrayEncoder) { out.AppendString(t.Format(time.TimeOnly)) }
		e.EncodeLevel = zapcore.CapitalLevelEncoder
		if screen.For(a.err, a.getenv).Colour {
			e.EncodeLevel = zapcore.CapitalColorLevelEncoder
		}
		e.ConsoleSeparator = "  "
		encoder = zapcore.NewConsoleEncoder(e)
	default:
		return nil, at, fmt.Errorf("no log format %q: use json or console", format)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(writeSyncer{a.err}), at)), at, nil
}

func levelOf(word string) (zapcore.Level, error) {
	level, err := zapcore.ParseLevel(word)
	if err != nil {
		return level, fmt.Errorf("no log level %q: use debug, info, warn or error", word)
	}
	return level, nil
}

// writeSyncer writes at once; there is nothing to flush.
type writeSyncer struct{ io.Writer }

func (writeSyncer) Sync() error { return nil }
