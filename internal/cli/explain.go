package cli

import (
	"context"

	"github.com/spf13/cobra"

	"proxyward/internal/operate"
)

func (a *app) explainCommand() *cobra.Command {
	var flags poolFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain ENDPOINT",
		Short: "Say where an endpoint stands, why, since when, and what comes next",
		Long: `Says where one endpoint stands, why, since when, what happened before, what comes
next, and what you can do. ENDPOINT is its id, its full URL (the password is ignored and
never printed) or, where one endpoint is there, host:port.`,
		Example: `  proxyward explain http://192.0.2.1:8080
  proxyward explain 192.0.2.1:8080
  proxyward explain socks5h://joe@proxy.example:1080 --json`,
		Args: exactly(1, "one endpoint"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, _, err := operate.Parse(1, args[0]); err != nil {
				return err
			}
			return flags.withPool(cmd.Context(), func(ctx context.Context, s *session) error {
				return a.explain(ctx, s, args[0], asJSON)
			})
		},
	}
	flags.add(c)
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) explain(ctx context.Context, s *session, arg string, asJSON bool) error {
	id, err := a.resolve(ctx, s.pool.Discreet(), 1, arg)
	if err != nil {
		return err
	}
	entries, bad, err := s.pool.Look(ctx, []string{id})
	if err != nil {
		return err
	}
	e := entries[0]
	if !e.Known() {
		if err := s.strange(ctx); err != nil {
			return err
		}
		return sayNo("%s is not in pool %s: no list names it", id, s.pool.Name())
	}
	if len(bad) > 0 {
		return sayNo("the record of %v: somebody else wrote it; `proxyward fsck --repair` makes %s a candidate again", bad[0], id)
	}
	x, err := operate.StoryOf(ctx, s.pool, e)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(x)
	}
	return a.printExplain(x, e)
}
