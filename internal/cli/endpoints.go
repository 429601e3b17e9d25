package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"proxyward/internal/cli/screen"
	"proxyward/internal/cli/tell"
	"proxyward/internal/operate"
	"proxyward/store"
	"proxyward/store/record"
)

func (a *app) endpointsCommand() *cobra.Command {
	var flags poolFlags
	var choose operate.Filters
	var asJSON bool
	var limit int
	c := &cobra.Command{
		Use:     "endpoints",
		Aliases: []string{"ls"},
		Short:   "List the endpoints of a pool: state, why, next probe, allocations",
		Example: `  proxyward endpoints --state cooling
  proxyward endpoints --reason proxy_auth --source proxies.txt
  proxyward endpoints --state eligible --json | jq -r .endpoint`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withPool(cmd.Context(), func(ctx context.Context, s *session) error {
				return a.endpoints(ctx, s, &choose, limit, asJSON)
			})
		},
	}
	flags.add(c)
	addFilters(c, &choose)
	c.Flags().IntVar(&limit, "limit", 0, "print so many at most (0: all)")
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) endpoints(ctx context.Context, s *session, choose *operate.Filters, limit int, asJSON bool) error {
	found, err := a.scan(ctx, s.pool.Discreet(), choose)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		if err := s.strange(ctx); err != nil {
			return err
		}
	}
	now, err := s.pool.Time(ctx)
	if err != nil {
		return err
	}
	total := len(found)
	if !asJSON {
		byState(found)
	}
	if limit > 0 && total > limit {
		found = found[:limit]
	}
	if !asJSON {
		return a.printEndpoints(s.pool.Name(), found, total, now)
	}
	for _, e := range found {
		if err := a.printJSON(operate.EndpointOf(e)); err != nil {
			return err
		}
	}
	return nil
}

// byState orders as people read: who works first, then who is on the way back.
func byState(entries []store.Entry) {
	order := []record.State{record.Eligible, record.Permitted, record.Candidate, record.Cooling, record.Disabled}
	slices.SortStableFunc(entries, func(x, y store.Entry) int {
		return slices.Index(order, x.State()) - slices.Index(order, y.State())
	})
}

func (a *app) printEndpoints(name string, entries []store.Entry, total int, now int64) error {
	if total == 0 {
		a.note("no endpoint of pool %s is like that", name)
		return nil
	}
	if err := endpointTable(entries, now).Write(a.out, a.style()); err != nil {
		return err
	}
	if total > len(entries) {
		fmt.Fprintf(a.out, "… and %s more\n", screen.Number(int64(total-len(entries))))
	}
	return nil
}

// endpointTable is the table of endpoints that the command prints, with their live jobs where
// there are any.
func endpointTable(entries []store.Entry, now int64) *screen.Table {
	t := &screen.Table{Columns: []screen.Column{
		{Head: "STATE"}, {Head: "ENDPOINT", Flex: true}, {Head: "SINCE", Right: true}, {Head: "NEXT PROBE", Right: true},
		{Head: "ALLOCATED", Right: true}, {Head: "JOBS", Right: true}, {Head: "LATENCY", Right: true}, {Head: "WHY"},
	}}
	busy := slices.ContainsFunc(entries, func(e store.Entry) bool { return e.Jobs > 0 })
	const jobs = 5 // its column
	if !busy {
		t.Columns = slices.Delete(t.Columns, jobs, jobs+1)
	}
	for _, e := range entries {
		state := e.State()
		row := []screen.Cell{{Text: string(state), Ink: tell.StateInk(state)}, screen.C(e.ID),
			screen.C(screen.Ago(e.Record.SinceMs, now)), screen.C(tell.Soon(e, now)),
			screen.C(screen.Number(e.Allocations())), screen.C(screen.Number(e.Jobs)), screen.C(latency(e.Record)), screen.C(tell.Why(e))}
		if !busy {
			row = slices.Delete(row, jobs, jobs+1)
		}
		t.Add(row...)
	}
	return t
}

func latency(r record.Record) string {
	if r.LatencyMs == 0 && r.LastOKMs == 0 {
		return ""
	}
	return screen.Number(r.LatencyMs) + " ms"
}
