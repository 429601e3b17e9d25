package operate

import (
	"context"
	"path"
	"slices"
	"strings"

	"proxyward/checks/endpoint"
	"proxyward/internal/cli/tell"
	"proxyward/store"
	"proxyward/store/record"
)

// Filters choose endpoints; each set one must match, and within one any of its values.
type Filters struct {
	States  []string `json:"states,omitempty"`
	Sources []string `json:"sources,omitempty"` // lists, as records name them or as the user wrote their path
	Hosts   []string `json:"hosts,omitempty"`   // * and ? match any characters
	Reasons []string `json:"reasons,omitempty"` // connect.refused, refused or connect
}

// StateNames are the words for states.
func StateNames() []string {
	names := make([]string, len(record.States))
	for i, s := range record.States {
		names[i] = string(s)
	}
	return names
}

// Any reports whether some filter is set.
func (f *Filters) Any() bool {
	return len(f.States)+len(f.Sources)+len(f.Hosts)+len(f.Reasons) > 0
}

// Validate says what is wrong with the filters.
func (f *Filters) Validate() error {
	for _, s := range f.States {
		if !slices.Contains(StateNames(), s) {
			return wrong("no state %q: use %s", s, strings.Join(StateNames(), ", "))
		}
	}
	for _, h := range f.Hosts {
		if _, err := path.Match(h, ""); err != nil {
			return wrong("bad --host %q: a bracket is open", h)
		}
	}
	return nil
}

// Match reports whether an endpoint is meant.
func (f *Filters) Match(e store.Entry) bool {
	return matchAny(f.States, func(s string) bool { return string(e.State()) == s }) &&
		matchAny(f.Sources, func(s string) bool { return fromSource(e.Record.Sources, s) }) &&
		matchAny(f.Hosts, func(h string) bool { return atHost(e.ID, h) }) &&
		matchAny(f.Reasons, func(r string) bool {
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

// Scan reads the endpoints that match, in the order of their ids, and counts the records
// that cannot be read: fsck knows more of those.
func Scan(ctx context.Context, p *store.Pool, f *Filters) (found []store.Entry, broken int, err error) {
	if err := f.Validate(); err != nil {
		return nil, 0, err
	}
	err = p.Scan(ctx, func(entries []store.Entry, bad []error) error {
		broken += len(bad)
		for _, e := range entries {
			if e.Known() && e.Record.State != "" && f.Match(e) {
				found = append(found, e)
			}
		}
		return nil
	})
	byID := func(x, y store.Entry) int { return strings.Compare(x.ID, y.ID) }
	slices.SortFunc(found, byID)
	found = slices.CompactFunc(found, func(x, y store.Entry) bool { return x.ID == y.ID }) // a scan may tell one twice
	return found, broken, err
}
