package cli

import (
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"proxyward/internal/cli/screen"
)

// newLog is the daemon's log on standard error: JSON for machines, console for people.
func (a *app) newLog(level, format string) (*zap.Logger, error) {
	at, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, fmt.Errorf("no log level %q: use debug, info, warn or error", level)
	}
	e := zap.NewProductionEncoderConfig()
	e.TimeKey, e.EncodeTime = "at", zapcore.RFC3339NanoTimeEncoder
	e.EncodeDuration = zapcore.StringDurationEncoder
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
		return nil, fmt.Errorf("no log format %q: use json or console", format)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(writeSyncer{a.err}), at)), nil
}

// writeSyncer writes at once; there is nothing to flush.
type writeSyncer struct{ io.Writer }

func (writeSyncer) Sync() error { return nil }
