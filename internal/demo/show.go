package demo

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"time"

	"proxyward/internal/cli/screen"
	"proxyward/internal/cli/tell"
	"proxyward/store"
	"proxyward/store/record"
)

const (
	redrawEvery = 250 * time.Millisecond
	printEvery  = 5 * time.Second // a whole table, where nothing can be redrawn
	newsShown   = 6
	lastWords   = 2 * time.Second
)

// show is what the person sees.
type show struct {
	Options
	stage  *stage
	pool   *store.Pool
	worker *worker
	redis  string // host:port
	began  time.Time

	last string          // id of the last event read
	out  map[string]exit // who went out, and is not back
	news []string
	back int // how many came back
}

// run draws until ctx ends, then once more for good.
func (s *show) run(ctx context.Context) error {
	if s.Style.Terminal {
		return s.redraw(ctx)
	}
	return s.print(ctx)
}

// redraw keeps one picture up to date.
func (s *show) redraw(ctx context.Context) error {
	s.Out.Write(s.head()) // once, uncut: it is there to be copied
	live := screen.NewLive(s.Out)
	defer live.End()
	draw := func(ctx context.Context) error {
		picture, err := s.picture(ctx)
		if err != nil {
			return err
		}
		return live.Draw(picture)
	}
	if err := every(ctx, redrawEvery, draw); err != nil {
		return err
	}
	return s.finish(draw)
}

// print writes news as they come and the table now and then.
func (s *show) print(ctx context.Context) error {
	s.Out.Write(s.head())
	said, printed := 0, time.Now()
	step := func(ctx context.Context) error {
		if err := s.listen(ctx); err != nil {
			return err
		}
		for ; said < len(s.news); said++ {
			fmt.Fprintln(s.Out, s.news[said])
		}
		if time.Since(printed) < printEvery {
			return nil
		}
		printed = time.Now()
		return s.table(ctx)
	}
	if err := every(ctx, redrawEvery, step); err != nil {
		return err
	}
	return s.finish(func(ctx context.Context) error {
		if err := step(ctx); err != nil {
			return err
		}
		return s.table(ctx)
	})
}

// every calls f until ctx ends; what fails because of that is no error.
func every(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		if err := f(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// finish draws for the last time and says what was seen.
func (s *show) finish(draw func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if err := draw(ctx); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Out, "\ndemo over after %s: %s came back; the worker got %d of %d pages\n",
		screen.Span(time.Since(s.began)), screen.Count(int64(s.back), "proxy"), s.worker.got.Load(), s.worker.asked.Load())
	return err
}

// head says what plays where, and what to try beside it.
func (s *show) head() []byte {
	var b bytes.Buffer
	bold := func(text string) string { return s.Style.Paint(screen.Bold, text) }
	fmt.Fprintf(&b, "%s: %d loopback proxies that misbehave on a schedule, a target at %s\n", bold("proxyward demo"), len(s.stage.members), s.stage.url())
	fmt.Fprintf(&b, "Try beside it:  proxyward allocate --redis redis://%s/0\n", s.redis)
	host, port, _ := net.SplitHostPort(s.redis)
	fmt.Fprintf(&b, "                redis-cli -h %s -p %s --eval store/lua/allocate.lua 'proxyward:{%s}:eligible'\n", host, port, checkName)
	fmt.Fprintf(&b, "                proxyward explain --redis redis://%s/0 %s\n\n", s.redis, s.example())
	return b.Bytes()
}

// example is an endpoint worth explaining: the one with the wrong password.
func (s *show) example() string {
	for _, m := range s.stage.members {
		if m.gives != "" {
			return m.endpoint.ID()
		}
	}
	return s.stage.members[0].endpoint.ID()
}

// picture is all that changes, at one moment.
func (s *show) picture(ctx context.Context) ([]byte, error) {
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := s.write(ctx, &b); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	room := newsShown
	if height := screen.Height(s.Out); height > 0 {
		room = max(1, min(room, height-2-bytes.Count(b.Bytes(), []byte{'\n'})))
	}
	for _, n := range s.news[max(0, len(s.news)-room):] {
		fmt.Fprintln(&b, n)
	}
	return b.Bytes(), nil
}

// table prints the table with a line above it.
func (s *show) table(ctx context.Context) error {
	var b bytes.Buffer
	b.WriteByte('\n')
	if err := s.write(ctx, &b); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := s.Out.Write(b.Bytes())
	return err
}

// write is the line of sums and the table of who is where and why.
func (s *show) write(ctx context.Context, b *bytes.Buffer) error {
	ids := make([]string, len(s.stage.members))
	for i, m := range s.stage.members {
		ids[i] = m.endpoint.ID()
	}
	entries, _, err := s.pool.Look(ctx, ids)
	if err != nil {
		return err
	}
	now, err := s.pool.Time(ctx)
	if err != nil {
		return err
	}
	roomy := s.Style.Width == 0 || s.Style.Width >= 120
	t := screen.Table{Columns: []screen.Column{{Head: "STATE"}, {Head: "ENDPOINT"}, {Head: "NEXT", Right: true}, {Head: "ALLOC", Right: true}}}
	if roomy {
		t.Columns = append(t.Columns, screen.Column{Head: "PLAYS"})
	}
	t.Columns = append(t.Columns, screen.Column{Head: "WHY"})
	counts := map[record.State]int{}
	for i, e := range entries {
		state := e.State()
		counts[state]++
		row := []screen.Cell{{Text: string(state), Ink: tell.StateInk(state)}, screen.C(e.ID), screen.C(tell.Soon(e, now)), screen.C(screen.Number(e.Allocations()))}
		if roomy {
			row = append(row, screen.Cell{Text: s.stage.members[i].plays, Ink: screen.Faint})
		}
		t.Add(append(row, screen.C(tell.Why(e)))...)
	}
	fmt.Fprintf(b, "%3.0f s  %d eligible, %d cooling, %d on trial, %d not judged; worker: %d of %d pages\n", time.Since(s.began).Seconds(),
		counts[record.Eligible], counts[record.Cooling], counts[record.Permitted], counts[record.Candidate], s.worker.got.Load(), s.worker.asked.Load())
	return t.Write(b, s.Style)
}
