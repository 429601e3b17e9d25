package demo

import (
	"context"
	"io"
	"time"

	"proxyward/internal/cli/screen"
)

// Options say what is shown where.
type Options struct {
	Out   io.Writer
	Style screen.Style
	For   time.Duration // 0: until ctx ends
	Redis string        // embedded:// URL
}

// Run shows the demo until its time is over or ctx ends.
func Run(ctx context.Context, o Options) error { return nil }
