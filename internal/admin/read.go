package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"proxyward/internal/operate"
	"proxyward/scheduler"
	"proxyward/store"
)

// statusAnswer is what `status --json` prints.
type statusAnswer struct {
	Checks []operate.Check `json:"checks"`
}

func (s *Server) status(ctx context.Context, _ *http.Request) (any, error) {
	conf := s.Checks()
	names, err := operate.Names(ctx, s.Store, conf)
	all := statusAnswer{[]operate.Check{}}
	for _, name := range names {
		one, err := operate.StatusOf(ctx, s.Store, conf, name)
		if err != nil {
			return nil, err
		}
		all.Checks = append(all.Checks, one)
	}
	return all, err
}

func (s *Server) check(ctx context.Context, r *http.Request) (any, error) {
	p, err := s.pool(ctx, r.PathValue("check"))
	if err != nil {
		return nil, err
	}
	return operate.StatusOf(ctx, s.Store, s.Checks(), p.Name())
}

// pool is the pool of a check that the configuration names or that is in Redis, and of a
// version that this one can read.
func (s *Server) pool(ctx context.Context, name string) (*store.Pool, error) {
	if _, configured := s.Checks().Check(name); !configured {
		names, err := operate.Names(ctx, s.Store, s.Checks())
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			return nil, trouble(http.StatusNotFound, "no such check: there are "+strings.Join(names, ", "))
		}
	}
	p := s.Store.Pool(name)
	return p, p.Known(ctx)
}

// only is the name of the check that a query means; it may be left out where there is one.
func (s *Server) only(ctx context.Context, r *http.Request) (string, error) {
	if name := r.URL.Query().Get("check"); name != "" {
		return name, nil
	}
	names := s.Checks().Names()
	if len(names) != 1 {
		return "", trouble(http.StatusBadRequest, "name the check: ?check=NAME; there are "+strings.Join(names, ", "))
	}
	return names[0], ctx.Err()
}

// setting is a check of the configuration, as far as operators look at it.
type setting struct {
	Name      string   `json:"name"`
	RecheckMs int64    `json:"recheck_ms"`
	TimeoutMs int64    `json:"timeout_ms"`
	Rise      int      `json:"rise"`
	Fall      int      `json:"fall"`
	Rate      float64  `json:"rate"` // probes per second of the whole fleet
	Trickle   int      `json:"trickle_per_tick"`
	Most      int      `json:"trickle_max_per_tick"`
	Sources   []string `json:"sources"`
}

func (s *Server) checks(context.Context, *http.Request) (any, error) {
	all := struct {
		Checks []setting `json:"checks"`
	}{[]setting{}}
	for _, c := range s.Checks() {
		one := setting{c.Name, c.Policy.Recheck.Milliseconds(), c.Timeout.Milliseconds(), c.Policy.Rise, c.Policy.Fall,
			c.Limits.Rate, c.Trickle.PerTick, c.Trickle.MaxPerTick, []string{}}
		for _, l := range c.Sources {
			one.Sources = append(one.Sources, operate.SourceName(l))
		}
		all.Checks = append(all.Checks, one)
	}
	return all, nil
}

const (
	pageUsual = 100
	pageMost  = 1000
)

// limit is how many a page may hold: 100, or what is asked for.
func limit(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return pageUsual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > pageMost {
		return 0, trouble(http.StatusBadRequest, fmt.Sprintf("bad limit: use 1 to %d", pageMost))
	}
	return n, nil
}

func (s *Server) endpoints(ctx context.Context, r *http.Request) (any, error) {
	n, err := limit(r)
	if err != nil {
		return nil, err
	}
	p, err := s.pool(ctx, r.PathValue("check"))
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	f := operate.Filters{States: words(q["state"]), Sources: words(q["source"]), Hosts: words(q["host"]), Reasons: words(q["reason"])}
	return operate.List(ctx, p.Discreet(), &f, q.Get("cursor"), n)
}

// words splits values at commas, as the flags of the commands are.
func words(values []string) (all []string) {
	for _, v := range values {
		all = append(all, strings.FieldsFunc(v, func(r rune) bool { return r == ',' })...)
	}
	return all
}

func (s *Server) explain(ctx context.Context, r *http.Request) (any, error) {
	arg := r.URL.Query().Get("endpoint")
	if arg == "" {
		return nil, trouble(http.StatusBadRequest, "name the endpoint: ?endpoint=ID")
	}
	p, err := s.pool(ctx, r.PathValue("check"))
	if err != nil {
		return nil, err
	}
	id, _, err := operate.Resolve(ctx, p.Discreet(), 1, arg)
	if err != nil {
		return nil, err
	}
	entries, bad, err := p.Look(ctx, []string{id})
	switch {
	case err != nil:
		return nil, err
	case !entries[0].Known():
		return nil, trouble(http.StatusNotFound, "no such endpoint in this pool: no list names it")
	case len(bad) > 0:
		return nil, trouble(http.StatusConflict, "its record cannot be read: `proxyward fsck --repair` makes it a candidate again")
	}
	return operate.StoryOf(ctx, p, entries[0])
}

// source is a list of a check.
type source struct {
	Name    string `json:"name"` // without user, password and query
	Scheme  string `json:"scheme"`
	Refresh string `json:"refresh"`
	Applied bool   `json:"applied"` // the pool holds it as it was read last, by any daemon
	List           // by this daemon
}

func (s *Server) sources(ctx context.Context, r *http.Request) (any, error) {
	p, err := s.pool(ctx, r.PathValue("check"))
	if err != nil {
		return nil, err
	}
	applied, err := p.AppliedSources(ctx)
	if err != nil {
		return nil, err
	}
	all := struct {
		Sources []source `json:"sources"`
	}{[]source{}}
	c, _ := s.Checks().Check(p.Name())
	for _, l := range c.Sources {
		all.Sources = append(all.Sources, s.source(c.Name, l, applied))
	}
	return all, nil
}

func (s *Server) source(check string, l scheduler.Source, applied map[string]bool) source {
	name := operate.SourceName(l)
	return source{name, l.Scheme, l.Refresh, applied[name], s.Lists.of(check, name)}
}
