package cli

import (
	"context"

	"github.com/spf13/cobra"

	"proxyward/internal/operate"
)

func (a *app) forgetCommand() *cobra.Command {
	var f act
	c := &cobra.Command{
		Use:   "forget ENDPOINT...",
		Short: "Remove endpoints and all that is known of them",
		Long: `Removes endpoints with their history, counts and passwords. One that a list still names
comes back as a new one when that list is read next; to keep it out, disable it instead.`,
		Example: `  proxyward forget http://192.0.2.1:8080
  proxyward forget --state disabled --source old.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTargets(args, &f.choose, false); err != nil {
				return err
			}
			return f.withPool(cmd.Context(), func(ctx context.Context, s *session) error {
				ids, err := a.targets(ctx, s.pool, args, &f.choose)
				if err != nil {
					return err
				}
				all, err := operate.Forget(ctx, s.pool, ids)
				if err != nil {
					return err
				}
				return a.tellOutcomes(s.pool.Name(), all, f.json, "forgotten")
			})
		},
	}
	f.add(c)
	return c
}
