package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"proxyward/internal/cli/screen"
)

type purgeJSON struct {
	Check     string `json:"check"`
	Endpoints int64  `json:"endpoints"` // removed
}

func (a *app) purgeCommand() *cobra.Command {
	var flags poolFlags
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "purge --check NAME",
		Short: "Remove a check's whole pool from Redis",
		Long: `Removes every key of a check: endpoints, passwords, history, allocations. It is meant
for a check that left the configuration. A check that the configuration names or that a
live daemon serves is refused, unless forced.`,
		Example: `  proxyward purge --check old-catalogue`,
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.check == "" {
				return errors.New("name the check to remove with --check: purge never guesses")
			}
			return flags.withAnyPool(cmd.Context(), func(ctx context.Context, s *session) error {
				return a.purge(ctx, s, force, asJSON)
			})
		},
	}
	flags.add(c)
	c.Flags().BoolVar(&force, "force", false, "even if the check is in the configuration or a daemon serves it")
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) purge(ctx context.Context, s *session, force, asJSON bool) error {
	name := s.pool.Name()
	if err := s.strange(ctx); err != nil {
		return err
	}
	one, err := s.statusOf(ctx, name)
	if err != nil {
		return err
	}
	if !force {
		if _, configured := s.check(name); configured {
			return fmt.Errorf("check %s is in the configuration: take it out first, or add --force", name)
		}
		if n := len(one.Daemons); n > 0 {
			return fmt.Errorf("%s still serves check %s (%s): stop it first, or add --force", screen.Count(int64(n), "live daemon"), name, one.Daemons[0].Name)
		}
	}
	if err := s.pool.Purge(ctx); err != nil {
		return err
	}
	total := int64(0)
	for _, n := range one.States {
		total += n
	}
	if asJSON {
		return a.printJSON(purgeJSON{name, total})
	}
	_, err = fmt.Fprintf(a.out, "purged  check %s with %s\n", name, screen.Count(total, "endpoint"))
	return err
}
