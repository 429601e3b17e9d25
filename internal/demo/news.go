package demo

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"proxyward/internal/cli/screen"
	"proxyward/internal/cli/tell"
	"proxyward/store/record"
)

// exit is when and why an endpoint went out.
type exit struct {
	atMs  int64
	class string
}

const eventsAtOnce = 500

// listen reads the events since the last time and makes news of them.
func (s *show) listen(ctx context.Context) error {
	if s.last == "" {
		s.last = "0"
	}
	events, last, err := s.pool.Events(ctx, s.last, eventsAtOnce)
	if err != nil {
		return err
	}
	s.last = last
	for _, e := range events {
		if words, ink := s.tell(e); words != "" {
			at := fmt.Sprintf("%4.1f s", float64(milliseconds(e)-s.began.UnixMilli())/1000)
			s.news = append(s.news, at+"  "+s.Style.Paint(ink, words))
		}
	}
	return nil
}

// tell makes one event a piece of news; most are none.
func (s *show) tell(e map[string]string) (string, screen.Ink) {
	id, class := e["endpoint"], tell.Class(e["stage"], e["reason"])
	at := milliseconds(e)
	was, isOut := s.out[id]
	switch record.State(e["to"]) {
	case record.Cooling:
		if isOut {
			return "", screen.Plain
		}
		s.out[id] = exit{at, class}
		return fmt.Sprintf("%s goes out: %s: %s", id, class, e["detail"]), screen.Bad
	case record.Eligible:
		if !isOut {
			return id + " is eligible", screen.Good
		}
		delete(s.out, id)
		s.back++
		return fmt.Sprintf("%s came back after %s: it had been out for %s", id, screen.Span(time.Duration(at-was.atMs)*time.Millisecond), was.class), screen.News
	}
	return "", screen.Plain
}

// milliseconds is when an event happened. The embedded Redis has this process's clock.
func milliseconds(e map[string]string) int64 {
	at, _ := strconv.ParseInt(e["at_ms"], 10, 64)
	return at
}
