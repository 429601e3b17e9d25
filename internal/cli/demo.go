package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"proxyward/internal/demo"
)

func (a *app) demoCommand() *cobra.Command {
	var o demo.Options
	var period time.Duration
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it work: proxies that misbehave on a schedule, on this machine only",
		Long: `Runs the same daemon as run, on a Redis inside the process, with a dozen proxies on the
loopback interface that misbehave on a schedule, a target, and a worker, and shows who is
where and why. Nothing is needed, nothing is kept, nothing leaves this machine.`,
		Example: `  proxyward demo
  proxyward demo --for 15s`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if period < 0 {
				return errors.New("bad value for --for: write a duration over zero, for example 15s")
			}
			o.Out, o.Style, o.For = a.out, a.style(), period
			return demo.Run(cmd.Context(), o)
		},
	}
	c.Flags().DurationVar(&period, "for", 0, "end by itself after this long; 0: when interrupted")
	c.Flags().StringVar(&o.Redis, "redis", "", "where the embedded Redis listens: embedded://HOST:PORT, port 0 picks one (default 127.0.0.1:6399, or a free port if that is taken)")
	return c
}
