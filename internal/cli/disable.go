package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"proxyward/internal/cli/screen"
	"proxyward/internal/operate"
)

// act is what the commands that change endpoints have in common.
type act struct {
	poolFlags
	choose operate.Filters
	json   bool

	until int64 // pool time at which what was done ends by itself, ms; 0: it does not
}

func (f *act) add(c *cobra.Command) {
	f.poolFlags.add(c)
	addFilters(c, &f.choose)
	jsonFlag(c, &f.json)
}

// do finds the endpoints, acts on them, and tells what came of it.
func (a *app) do(ctx context.Context, f *act, args []string, word string,
	work func(context.Context, *session, []string) ([]operate.Outcome, error)) error {
	if err := checkTargets(args, &f.choose, false); err != nil {
		return err
	}
	return f.withPool(ctx, func(ctx context.Context, s *session) error {
		ids, err := a.targets(ctx, s.pool, args, &f.choose)
		if err != nil {
			return err
		}
		all, err := work(ctx, s, ids)
		if err != nil {
			return err
		}
		err = a.tellOutcomes(s.pool.Name(), all, f.json, word, operate.Unchanged)
		if now := s.pool.Now(); f.until > 0 && !f.json && slices.ContainsFunc(all, func(o operate.Outcome) bool { return o.UntilMs > 0 }) {
			fmt.Fprintf(a.out, "until %s (%s); then candidates again\n", screen.Clock(f.until, now), screen.When(f.until, now))
		}
		return err
	})
}

func (a *app) disableCommand() *cobra.Command {
	var f act
	var note string
	var period time.Duration
	c := &cobra.Command{
		Use:   "disable ENDPOINT...",
		Short: "Take endpoints out until they are enabled again",
		Long: `Takes endpoints out of the pool with the operator's hold: they are neither eligible nor
probed until you enable them, or until the time given with --for is over. A list that
names them again does not lift the hold.`,
		Example: `  proxyward disable http://192.0.2.1:8080 --note "provider maintenance" --for 2h
  proxyward disable --host '*.bad.example' --note abuse
  proxyward disable --source proxies.txt --state cooling`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if period < 0 {
				return errors.New("bad value for --for: write a duration over zero, for example 2h")
			}
			return a.do(cmd.Context(), &f, args, "disabled", func(ctx context.Context, s *session, ids []string) (all []operate.Outcome, err error) {
				all, f.until, err = operate.Disable(ctx, s.pool, ids, note, period)
				return all, err
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&note, "note", "", "why: shown wherever the endpoint is")
	c.Flags().DurationVar(&period, "for", 0, "how long; 0: until enabled")
	return c
}

func (a *app) enableCommand() *cobra.Command {
	var f act
	c := &cobra.Command{
		Use:   "enable ENDPOINT...",
		Short: "Lift the operator's hold: the endpoints are probed again",
		Example: `  proxyward enable http://192.0.2.1:8080
  proxyward enable --state disabled --host '*.example'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.do(cmd.Context(), &f, args, "enabled", func(ctx context.Context, s *session, ids []string) ([]operate.Outcome, error) {
				return operate.Enable(ctx, s.pool, ids)
			})
		},
	}
	f.add(c)
	return c
}
