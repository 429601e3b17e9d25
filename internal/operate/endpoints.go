package operate

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"proxyward/internal/cli/tell"
	"proxyward/scheduler/suspect"
	"proxyward/store"
	"proxyward/store/record"
)

// Endpoint is one endpoint's record beside its id. State and allocations are those of
// the pool: an endpoint on trial is permitted, and the set counts for an eligible one.
type Endpoint struct {
	Endpoint string `json:"endpoint"`
	Jobs     int64  `json:"jobs,omitempty"` // live ones of workers, where the check counts them
	record.Record
}

// EndpointOf is what is shown of an entry.
func EndpointOf(e store.Entry) Endpoint {
	r := e.Record
	r.State, r.Allocations = e.State(), e.Allocations()
	return Endpoint{e.ID, e.Jobs, r}
}

// Story is what is known of one endpoint, and what comes next.
type Story struct {
	Endpoint string        `json:"endpoint"`
	Check    string        `json:"check"`
	Record   record.Record `json:"record"`
	NowMs    int64         `json:"-"`       // pool time
	History  []record.Step `json:"history"` // newest first
	Next     tell.Next     `json:"next"`
	Advice   string        `json:"advice,omitempty"` // what a person can do
	Jobs     int64         `json:"jobs,omitempty"`   // live ones of workers, where the check counts them
	Reports  *Reports      `json:"reports,omitempty"`
}

// Reports are what workers reported of an endpoint lately, as far as it still matters.
type Reports struct {
	Failed  int   `json:"failed"`             // that count towards asking for a probe
	Workers int   `json:"workers"`            // whose they are
	LastMs  int64 `json:"last_ms,omitempty"`  // pool time of the last one
	AskedMs int64 `json:"asked_ms,omitempty"` // pool time at which such reports asked for a probe last
}

// StoryOf tells of an entry of a pool.
func StoryOf(ctx context.Context, p *store.Pool, e store.Entry) (Story, error) {
	now, err := p.Time(ctx)
	if err != nil {
		return Story{}, err
	}
	reported, err := p.Reported(ctx, []string{e.ID})
	if err != nil {
		return Story{}, err
	}
	s := Story{Endpoint: e.ID, Check: p.Name(), NowMs: now, Record: EndpointOf(e).Record, History: slices.Clone(e.Record.History),
		Next: tell.NextOf(e, now), Jobs: e.Jobs, Reports: reportsOf(suspect.Decode(reported[0]))}
	slices.Reverse(s.History)
	if s.History == nil {
		s.History = []record.Step{}
	}
	if e.Record.Reason != "" {
		s.Advice = tell.Advice(e.Record.Stage, e.Record.Reason, e.Record.Blame)
	}
	return s, nil
}

func reportsOf(s suspect.State) *Reports {
	r := Reports{Failed: len(s.Bad), Workers: suspect.Workers(s.Bad), AskedMs: s.AskedMs}
	if len(s.Bad) > 0 {
		r.LastMs = s.Bad[len(s.Bad)-1].AtMs
	}
	if r == (Reports{}) {
		return nil
	}
	return &r
}

// Page is a part of a pool's endpoints, in no order; a walk from page to page meets each
// that is there all the while. An empty Next ends it; a page may be short, even empty, and
// not be the last.
type Page struct {
	Endpoints  []Endpoint `json:"endpoints"`
	Next       string     `json:"next,omitempty"` // cursor of the next page
	Examined   int        `json:"examined"`       // endpoints read for it
	Unreadable int        `json:"unreadable"`     // records that cannot be read: fsck knows more
	NowMs      int64      `json:"now_ms"`         // pool time
}

const (
	pageWork = 20_000          // endpoints read for one page at most
	pageTime = 2 * time.Second // and for so long
	longStep = 8               // a step in which nothing matches makes the next one twice as long, so often
)

// List reads the page at a cursor, empty for the first, with at most limit endpoints.
func List(ctx context.Context, p *store.Pool, f *Filters, cursor string, limit int) (Page, error) {
	page := Page{Endpoints: []Endpoint{}}
	at, err := placeOf(cursor)
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		return page, err
	}
	began, idle := time.Now(), 0
	for !at.Done() && len(page.Endpoints) < limit && page.Examined < pageWork && time.Since(began) < pageTime {
		entries, bad, next, err := p.Walk(ctx, at, (limit-len(page.Endpoints))<<idle)
		if err != nil {
			return page, err
		}
		page.Unreadable += len(bad)
		page.Examined += len(entries)
		before := len(page.Endpoints)
		at = page.fill(entries, f, limit, next)
		if idle = min(idle+1, longStep); len(page.Endpoints) > before {
			idle = 0
		}
	}
	if page.NowMs, err = p.Time(ctx); !at.Done() {
		page.Next = cursorOf(at)
	}
	return page, err
}

// cursorBytes is how long a cursor may be, so that it fits into the header of a request. Where
// Redis gives more at once than was asked for, as it may while it resizes its table, and the
// ids are long, the page grows instead.
const cursorBytes = 48 << 10

// fill takes what matches, and says where to go on: where the page is full before the
// entries are at an end, behind the last one taken. What does not match is not read again.
func (p *Page) fill(entries []store.Entry, f *Filters, limit int, next store.Place) store.Place {
	entries = slices.DeleteFunc(entries, func(e store.Entry) bool {
		return !e.Known() || e.Record.State == "" || !f.Match(e)
	})
	for i, e := range entries {
		p.Endpoints = append(p.Endpoints, EndpointOf(e))
		rest := entries[i+1:]
		if len(p.Endpoints) < limit || len(rest) == 0 {
			continue
		}
		if back := next.Back(e, rest); len(cursorOf(back)) <= cursorBytes {
			return back
		}
	}
	return next
}

func cursorOf(at store.Place) string {
	b, _ := json.Marshal(at) // numbers and strings
	return base64.RawURLEncoding.EncodeToString(b)
}

func placeOf(cursor string) (at store.Place, err error) {
	if cursor == "" {
		return at, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(b, &at)
	}
	if err != nil {
		return at, wrong("bad cursor: pass `next` of the page before as it is, or leave it out")
	}
	return at, nil
}
