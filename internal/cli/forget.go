package cli

import (
	"context"

	"github.com/spf13/cobra"

	"proxyward/store"
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
				all, err := forget(ctx, s.pool, ids)
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

// forgetTries bounds how often an endpoint whose record changes meanwhile is read again.
const forgetTries = 5

func forget(ctx context.Context, p *store.Pool, ids []string) ([]outcome, error) {
	words := make(map[string]string, len(ids))
	open := ids
	for try := 0; len(open) > 0 && try < forgetTries; try++ {
		entries, _, err := p.Look(ctx, open)
		if err != nil {
			return nil, err
		}
		var known []store.Entry
		for _, e := range entries {
			if words[e.ID] = unknown; e.Known() {
				words[e.ID] = busy
				known = append(known, e)
			}
		}
		codes, err := p.Forget(ctx, known)
		if err != nil {
			return nil, err
		}
		open = nil
		for i, code := range codes {
			switch code {
			case store.Applied:
				words[known[i].ID] = "forgotten"
			case store.Changed:
				open = append(open, known[i].ID)
			}
		}
	}
	all := make([]outcome, len(ids))
	for i, id := range ids {
		all[i] = outcome{Endpoint: id, Outcome: words[id]}
	}
	return all, nil
}
