package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"proxyward/internal/cli/screen"
	"proxyward/internal/operate"
	"proxyward/store"
	"proxyward/store/record"
)

type allocateJSON struct {
	Endpoint string `json:"endpoint"`
	URL      string `json:"url"` // with its password: the one output that has it
}

func (a *app) allocateCommand() *cobra.Command {
	var flags poolFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "allocate",
		Short: "Take the least-allocated eligible proxy, as a worker does",
		Long: `Takes the least-allocated eligible proxy and counts the allocation. Prints its URL
with its password, and nothing else, on standard output; with an empty pool nothing, and
the exit status is 1.`,
		Example: `  curl -x "$(proxyward allocate)" https://shop.example/
  proxyward allocate --check catalogue --json
  redis-cli --eval store/lua/allocate.lua 'proxyward:{default}:eligible'`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withAnyPool(cmd.Context(), func(ctx context.Context, s *session) error {
				return a.allocate(ctx, s, asJSON)
			})
		},
	}
	flags.add(c)
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) allocate(ctx context.Context, s *session, asJSON bool) error {
	id, url, ok, err := s.pool.Allocate(ctx)
	switch {
	case err != nil:
		return err
	case !ok:
		return s.empty(ctx)
	case asJSON:
		return a.printJSON(allocateJSON{id, url})
	}
	_, err = fmt.Fprintln(a.out, url)
	return err
}

// empty says why there is nothing to allocate.
func (s *session) empty(ctx context.Context) error {
	if err := s.strange(ctx); err != nil {
		return err
	}
	status, err := s.pool.Status(ctx)
	if err != nil {
		return err
	}
	return sayNo("no endpoint of pool %s is eligible: %s", s.pool.Name(), stateWords(status))
}

// stateWords is "3 cooling, 1 disabled".
func stateWords(status store.Status) string {
	var parts []string
	for _, state := range record.States {
		if n := operate.Count(status, state); n > 0 {
			parts = append(parts, screen.Number(n)+" "+string(state))
		}
	}
	if len(parts) == 0 {
		return "it has no endpoints"
	}
	return strings.Join(parts, ", ")
}
