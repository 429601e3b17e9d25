package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"

	"proxyward/internal/operate"
	"proxyward/store"
)

// order is the body of a request that changes endpoints: some by name, or some by filter.
type order struct {
	Endpoints []string        `json:"endpoints"` // ids, or full URLs; a password in one is ignored
	Filters   operate.Filters `json:"filters"`
	All       bool            `json:"all"`      // recheck: every endpoint of the pool
	Priority  int             `json:"priority"` // recheck: 0 to 99999, lower first
	Note      string          `json:"note"`     // disable
	For       span            `json:"for"`      // disable: how long, 2h; 0: until enabled
}

const (
	noteBytes = 1000
	logged    = 10 // endpoints that the log names of one order
)

// span is a duration as Go writes it.
type span time.Duration

func (d *span) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = span(v)
	return err
}

// orderAnswer is what came of it. Outcomes are the first 1000.
type orderAnswer struct {
	Check    string            `json:"check"`
	Counts   map[string]int    `json:"counts"` // by outcome
	Outcomes []operate.Outcome `json:"outcomes"`
	Omitted  int               `json:"omitted"`
}

// work carries an order out on endpoints of a pool.
type work struct {
	name string
	all  bool // it may be for every endpoint
	do   func(ctx context.Context, p *store.Pool, o *order, ids []string) ([]operate.Outcome, error)
}

var (
	recheck = work{"recheck", true, func(ctx context.Context, p *store.Pool, o *order, ids []string) ([]operate.Outcome, error) {
		return operate.Recheck(ctx, p, o.Priority, ids)
	}}
	disable = work{"disable", false, func(ctx context.Context, p *store.Pool, o *order, ids []string) ([]operate.Outcome, error) {
		all, _, err := operate.Disable(ctx, p, ids, o.Note, time.Duration(o.For))
		return all, err
	}}
	enable = work{"enable", false, func(ctx context.Context, p *store.Pool, _ *order, ids []string) ([]operate.Outcome, error) {
		return operate.Enable(ctx, p, ids)
	}}
	forget = work{"forget", false, func(ctx context.Context, p *store.Pool, _ *order, ids []string) ([]operate.Outcome, error) {
		return operate.Forget(ctx, p, ids)
	}}
)

// order answers a request that changes endpoints, as the command of that name does it.
func (s *Server) order(w work) http.HandlerFunc {
	return func(to http.ResponseWriter, r *http.Request) {
		var o order
		if err := o.read(r.Body, w.all); err != nil { // within requestTime, as everybody
			s.fail(to, err)
			return
		}
		patient(to, orderTime)
		ctx, cancel := context.WithTimeout(r.Context(), orderTime-readTime)
		defer cancel()
		done, err := s.carryOut(ctx, w, &o, r)
		if err == nil {
			err = answer(to, done)
		}
		if err != nil {
			s.fail(to, err)
		}
	}
}

func (s *Server) carryOut(ctx context.Context, w work, o *order, r *http.Request) (orderAnswer, error) {
	p, err := s.pool(ctx, r.PathValue("check"))
	if err != nil {
		return orderAnswer{}, err
	}
	ids, _, err := operate.Targets(ctx, p, o.Endpoints, &o.Filters)
	if err != nil {
		return orderAnswer{}, err
	}
	outcomes, err := w.do(ctx, p, o, ids)
	if err != nil {
		return orderAnswer{}, err
	}
	a := orderAnswer{Check: p.Name(), Counts: map[string]int{}, Outcomes: []operate.Outcome{}}
	for _, one := range outcomes {
		a.Counts[one.Outcome]++
	}
	n := min(len(outcomes), pageMost)
	a.Outcomes, a.Omitted = append(a.Outcomes, outcomes[:n]...), len(outcomes)-n
	s.Log.Info("admin: an operator's order", zap.String("order", w.name), zap.String("check", p.Name()),
		zap.String("from", r.RemoteAddr), zap.Any("outcomes", a.Counts),
		zap.Strings("endpoints", ids[:min(len(ids), logged)]), zap.Bool("note", o.Note != ""))
	return a, nil
}

// read reads the body and says what is wrong with it. Endpoints may hold passwords and are
// never repeated.
func (o *order) read(body io.Reader, all bool) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(o)
	if err == nil {
		if _, err = d.Token(); err == nil {
			return trouble(http.StatusBadRequest, "the body goes on after its object: send one")
		}
	}
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return trouble(http.StatusRequestTimeout, "the body did not come in time: send the whole request within 15 s")
	case err != nil && !errors.Is(err, io.EOF):
		return trouble(http.StatusBadRequest, bodyWords(err))
	}
	return o.validate(all)
}

func (o *order) empty() bool { return len(o.Endpoints) == 0 }

func (o *order) chosen(all bool) bool { return o.Filters.Any() || all && o.All }

func (o *order) validate(all bool) error {
	for i, arg := range o.Endpoints {
		if _, whole, err := operate.Parse(i+1, arg); err != nil {
			return err
		} else if !whole {
			return trouble(http.StatusBadRequest, fmt.Sprintf("argument %d is no endpoint: write it in full, scheme://host:port", i+1))
		}
	}
	switch {
	case o.All && !all:
		return trouble(http.StatusBadRequest, "all is for recheck: use filters")
	case !o.empty() && o.chosen(all):
		return trouble(http.StatusBadRequest, "name endpoints or use filters, not both")
	case o.empty() && !o.chosen(all):
		return trouble(http.StatusBadRequest, "name at least one endpoint in endpoints, or choose many with filters: states, hosts, sources, reasons")
	case len(o.Note) > noteBytes:
		return trouble(http.StatusBadRequest, fmt.Sprintf("the note has over %d bytes: it stands in every record", noteBytes))
	case o.For < 0:
		return trouble(http.StatusBadRequest, "bad value of for: write a duration over zero, for example 2h")
	}
	if err := operate.CheckPriority(o.Priority); err != nil {
		return err
	}
	return o.Filters.Validate()
}

// bodyWords says what is wrong with a body without repeating any of it but names of fields.
func bodyWords(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return "the body is a JSON object"
	case errors.As(err, &kind):
		return kind.Field + " is " + fieldWords(kind.Field)
	case errors.As(err, &syntax):
		return fmt.Sprintf("the body is no JSON at byte %d", syntax.Offset)
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return "the body has an unknown field; known are endpoints, filters, all, priority, note, for"
	}
	return "the body is not what is asked for: send JSON, with for as a duration such as 2h"
}

// fieldWords says what a field holds; filters.states and the like are lists as endpoints is.
func fieldWords(field string) string {
	switch field {
	case "filters":
		return "an object with states, hosts, sources, reasons"
	case "all":
		return "true or false"
	case "priority":
		return fmt.Sprintf("a whole number from 0 to %d", store.MaxPriority)
	case "note":
		return "a text"
	case "for":
		return "a duration such as 2h"
	}
	return "a list of texts"
}
