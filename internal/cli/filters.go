package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"proxyward/internal/operate"
	"proxyward/store"
)

// addFilters adds the flags that choose endpoints.
func addFilters(c *cobra.Command, f *operate.Filters) {
	c.Flags().StringSliceVar(&f.States, "state", nil, "only endpoints in this `STATE`: "+strings.Join(operate.StateNames(), ", "))
	c.Flags().StringSliceVar(&f.Sources, "source", nil, "only endpoints of this `LIST`, as given to the check")
	c.Flags().StringSliceVar(&f.Hosts, "host", nil, "only proxies at this `HOST`; * and ? match any characters")
	c.Flags().StringSliceVar(&f.Reasons, "reason", nil, "only endpoints out for this `REASON`: connect.refused, refused, connect")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(operate.StateNames(), cobra.ShellCompDirectiveNoFileComp))
}

// scan reads the endpoints that match, in the order of their ids. Records that cannot be
// read are told on standard error: fsck knows more.
func (a *app) scan(ctx context.Context, p *store.Pool, f *operate.Filters) ([]store.Entry, error) {
	found, broken, err := operate.Scan(ctx, p, f)
	a.tellBroken(broken)
	return found, err
}

func (a *app) tellBroken(n int) {
	if n > 0 {
		a.note("%d records cannot be read: run `proxyward fsck --repair`", n)
	}
}
