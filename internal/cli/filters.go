package cli

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"proxyward/checks/endpoint"
	"proxyward/internal/cli/tell"
	"proxyward/store"
	"proxyward/store/record"
)

// filters choose endpoints; each set one must match, and within one any of its values.
type filters struct {
	states, sources, hosts, reasons []string
}

func (f *filters) add(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.states, "state", nil, "only endpoints in this `STATE`: "+strings.Join(stateNames(), ", "))
	c.Flags().StringSliceVar(&f.sources, "source", nil, "only endpoints of this `LIST`, as given to the check")
	c.Flags().StringSliceVar(&f.hosts, "host", nil, "only proxies at this `HOST`; * and ? match any characters")
	c.Flags().StringSliceVar(&f.reasons, "reason", nil, "only endpoints out for this `REASON`: connect.refused, refused, connect")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(stateNames(), cobra.ShellCompDirectiveNoFileComp))
}

func stateNames() []string {
	names := make([]string, len(record.States))
	for i, s := range record.States {
		names[i] = string(s)
	}
	return names
}

// any reports whether some filter is set.
func (f *filters) any() bool {
	return len(f.states)+len(f.sources)+len(f.hosts)+len(f.reasons) > 0
}

func (f *filters) validate() error {
	for _, s := range f.states {
		if !slices.Contains(stateNames(), s) {
			return fmt.Errorf("no state %q: use %s", s, strings.Join(stateNames(), ", "))
		}
	}
	for _, h := range f.hosts {
		if _, err := path.Match(h, ""); err != nil {
			return fmt.Errorf("bad --host %q: a bracket is open", h)
		}
	}
	return nil
}

func (f *filters) match(e store.Entry) bool {
	return matchAny(f.states, func(s string) bool { return string(e.State()) == s }) &&
		matchAny(f.sources, func(s string) bool { return fromSource(e.Record.Sources, s) }) &&
		matchAny(f.hosts, func(h string) bool { return atHost(e.ID, h) }) &&
		matchAny(f.reasons, func(r string) bool {
			return r == e.Record.Reason || r == e.Record.Stage || r == tell.Class(e.Record.Stage, e.Record.Reason)
		})
}

func matchAny(values []string, is func(string) bool) bool {
	return len(values) == 0 || slices.ContainsFunc(values, is)
}

// fromSource: a list is named as records name it or as the user wrote its path.
func fromSource(sources []string, name string) bool {
	return slices.ContainsFunc(sources, func(s string) bool {
		_, bare, found := strings.Cut(s, ":")
		return s == name || found && (bare == name || path.Base(bare) == name)
	})
}

func atHost(id, pattern string) bool {
	e, err := endpoint.Parse(id)
	if err != nil {
		return false
	}
	matched, _ := path.Match(strings.ToLower(strings.Trim(pattern, "[]")), e.Host)
	return matched || strings.EqualFold(pattern, e.Host)
}

// scan reads the endpoints that match, in the order of their ids. Records that cannot be
// read are told on standard error: fsck knows more.
func (a *app) scan(ctx context.Context, p *store.Pool, f *filters) ([]store.Entry, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	var found []store.Entry
	broken := 0
	err := p.Scan(ctx, func(entries []store.Entry, bad []error) error {
		broken += len(bad)
		for _, e := range entries {
			if e.Known() && e.Record.State != "" && f.match(e) {
				found = append(found, e)
			}
		}
		return nil
	})
	if broken > 0 {
		a.note("%d records cannot be read: run `proxyward fsck --repair`", broken)
	}
	byID := func(x, y store.Entry) int { return strings.Compare(x.ID, y.ID) }
	slices.SortFunc(found, byID)
	found = slices.CompactFunc(found, func(x, y store.Entry) bool { return x.ID == y.ID }) // a scan may tell one twice
	return found, err
}
