package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"proxyward/store"
)

const (
	listenEvery = 500 * time.Millisecond // a stream asks Redis for news this often
	heartbeat   = 15 * time.Second
	eventsOnce  = 500
	writeTime   = 10 * time.Second // somebody who reads slower than this is cut off
)

// event is one entry of the events stream. Endpoint * is the check as a whole.
type event struct {
	ID       string `json:"id"`
	Check    string `json:"check"`
	Endpoint string `json:"endpoint"`
	From     string `json:"from"`
	To       string `json:"to"`
	By       string `json:"by"`
	Stage    string `json:"stage"`
	Reason   string `json:"reason"`
	Blame    string `json:"blame"`
	Detail   string `json:"detail"`
	PauseMs  int64  `json:"pause_ms"`
	AtMs     int64  `json:"at_ms"` // pool time
	Probe    string `json:"probe"` // the one that made it, as logs name it; empty: none did
}

func eventOf(check string, e store.Event) event {
	f := e.Fields
	number := func(name string) int64 { n, _ := strconv.ParseInt(f[name], 10, 64); return n }
	return event{e.ID, check, f["endpoint"], f["from"], f["to"], f["by"], f["stage"], f["reason"], f["blame"], f["detail"],
		number("pause_ms"), number("at_ms"), f["probe"]}
}

// streamID is what Redis calls an entry; 19 digits fit into what it counts with.
var streamID = regexp.MustCompile(`^[0-9]{1,19}(-[0-9]{1,19})?$`)

// history answers with past events, newest first; before is the id of the last one seen.
func (s *Server) history(ctx context.Context, r *http.Request) (any, error) {
	n, err := limit(r)
	if err != nil {
		return nil, err
	}
	before := r.URL.Query().Get("before")
	if before != "" && !streamID.MatchString(before) {
		return nil, trouble(http.StatusBadRequest, "bad before: pass the id of an event")
	}
	p, err := s.pool(ctx, r.PathValue("check"))
	if err != nil {
		return nil, err
	}
	found, err := p.Latest(ctx, before, int64(n))
	if err != nil {
		return nil, err
	}
	all := struct {
		Events []event `json:"events"`
		Next   string  `json:"next,omitempty"` // pass as before
	}{Events: []event{}}
	for _, e := range found {
		all.Events = append(all.Events, eventOf(p.Name(), e))
	}
	if len(found) == n {
		all.Next = found[n-1].ID
	}
	return all, nil
}

// events sends what happens in a pool from now on, or from after Last-Event-ID (or ?after=),
// as server-sent events (WHATWG HTML, 9.2), until somebody leaves.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	p, after, err := s.beginning(ctx, r)
	cancel()
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		return
	}
	t := &teller{w: w, c: http.NewResponseController(w), check: p.Name()}
	t.c.SetReadDeadline(time.Time{})
	if t.say("retry: 2000\n\n") != nil {
		return
	}
	look, beat := time.NewTicker(listenEvery), time.NewTicker(heartbeat)
	defer look.Stop()
	defer beat.Stop()
	for {
		if after, err = t.news(r.Context(), p, after); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-look.C:
		case <-beat.C:
			if t.say(": alive\n\n") != nil {
				return
			}
		}
	}
}

// beginning is the pool and the id after which events are told.
func (s *Server) beginning(ctx context.Context, r *http.Request) (*store.Pool, string, error) {
	name, err := s.only(ctx, r)
	if err != nil {
		return nil, "", err
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = r.URL.Query().Get("after")
	}
	if after != "" && !streamID.MatchString(after) {
		return nil, "", trouble(http.StatusBadRequest, "bad Last-Event-ID: pass the id of an event")
	}
	p, err := s.pool(ctx, name)
	if err != nil || after != "" {
		return p, after, err
	}
	last, err := p.Latest(ctx, "", 1)
	if err != nil || len(last) == 0 {
		return p, "0", err
	}
	return p, last[0].ID, nil
}

// teller writes events to one listener.
type teller struct {
	w       http.ResponseWriter
	c       *http.ResponseController
	check   string
	resumed bool // it was looked whether events were missed
	away    bool // Redis is, and that was told
}

// news tells all that happened after an id. Only that the listener is gone is an error.
func (t *teller) news(ctx context.Context, p *store.Pool, after string) (string, error) {
	for {
		found, err := p.Follow(ctx, after, eventsOnce)
		if err != nil {
			return after, t.stays(ctx)
		}
		t.away = false
		if !t.resumed {
			t.resumed = true
			if err := t.gap(ctx, p, after); err != nil {
				return after, err
			}
		}
		for _, e := range found {
			if err := t.tell(e); err != nil {
				return after, err
			}
			after = e.ID
		}
		if len(found) < eventsOnce {
			return after, nil
		}
	}
}

// stays says once that Redis is away.
func (t *teller) stays(ctx context.Context) error {
	if ctx.Err() != nil || t.away {
		return ctx.Err()
	}
	t.away, t.resumed = true, false // it may come back with less
	return t.say(": redis does not answer; waiting for it\n\n")
}

// gap tells whether events after the id are no longer kept: then pools are to be read anew.
func (t *teller) gap(ctx context.Context, p *store.Pool, after string) error {
	if after == "0" {
		return nil
	}
	first, err := p.Follow(ctx, "0", 1)
	if err != nil || len(first) > 0 && !before(after, first[0].ID) {
		return nil
	}
	return t.say("event: gap\ndata: {\"check\":\"" + t.check + "\"}\n\n")
}

// before compares two ids of a stream.
func before(a, b string) bool {
	var ams, an, bms, bn uint64
	fmt.Sscanf(a, "%d-%d", &ams, &an)
	fmt.Sscanf(b, "%d-%d", &bms, &bn)
	return ams < bms || ams == bms && an < bn
}

func (t *teller) tell(e store.Event) error {
	name := "transition"
	if e.Fields["endpoint"] == "*" {
		name = "notice"
	}
	b, err := json.Marshal(eventOf(t.check, e))
	if err != nil {
		return err
	}
	return t.say(fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", e.ID, name, b))
}

func (t *teller) say(text string) error {
	t.c.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := t.w.Write([]byte(text)); err != nil {
		return err
	}
	return t.c.Flush()
}
