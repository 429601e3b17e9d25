package cli

import (
	"context"

	"github.com/spf13/cobra"

	"proxyward/internal/operate"
)

func (a *app) recheckCommand() *cobra.Command {
	var f act
	var all bool
	var priority int
	c := &cobra.Command{
		Use:   "recheck [ENDPOINT...]",
		Short: "Ask for a probe of endpoints now",
		Long: `Asks for a probe of endpoints soon. The words of the answer:

  queued     it is next in line
  waiting    it was asked for already: one probe answers both
  probing    it is being probed now: that probe answers
  trickles   it cools: its pause is over now, and the trickle admits it in its turn
  disabled   it is disabled and is not probed: enable it first`,
		Example: `  proxyward recheck http://192.0.2.1:8080
  proxyward recheck --reason auth_rejected
  proxyward recheck --all --priority 500`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTargets(args, &f.choose, all); err != nil {
				return err
			}
			if err := operate.CheckPriority(priority); err != nil {
				return err
			}
			return f.withPool(cmd.Context(), func(ctx context.Context, s *session) error {
				ids, err := a.targets(ctx, s.pool, args, &f.choose)
				if err != nil {
					return err
				}
				done, err := operate.Recheck(ctx, s.pool, priority, ids)
				if err != nil {
					return err
				}
				return a.tellOutcomes(s.pool.Name(), done, f.json, "queued", "waiting", "probing", "trickles", "disabled")
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&all, "all", false, "every endpoint of the pool")
	c.Flags().IntVar(&priority, "priority", 0, "0 to 99999, lower first; first come, first served within one")
	return c
}
