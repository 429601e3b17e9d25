package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

// Sight is what can be seen of one endpoint at one instant.
type Sight struct {
	ID     string // as it may be shown: without a password
	Member bool   // of the eligible set
	Score  float64
	State  record.State // empty: it has no record that can be read
}

// Lowest are the ids of the members with the fewest allocations, at most n.
func (p *Pool) Lowest(ctx context.Context, n int64) ([]string, error) {
	ids, err := p.client.ZRange(ctx, p.keys.eligible(), 0, n-1).Result()
	if err != nil {
		return nil, fmt.Errorf("read the eligible set: %w", err)
	}
	return ids, nil
}

// See looks at endpoints, all at one instant.
func (p *Pool) See(ctx context.Context, ids []string) ([]Sight, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	tx := p.client.TxPipeline()
	var scores []*redis.FloatCmd
	for _, id := range ids { // ZMSCORE tells no zero from an absent member
		scores = append(scores, tx.ZScore(ctx, p.keys.eligible(), id))
	}
	records := tx.HMGet(ctx, p.keys.endpoints(), ids...)
	if err := exec(ctx, tx); err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("look at endpoints: %w", err)
	}
	all := make([]Sight, len(ids))
	for i, id := range ids {
		var r struct{ State record.State }
		if raw, ok := records.Val()[i].(string); ok && json.Unmarshal([]byte(raw), &r) != nil {
			r.State = ""
		}
		all[i] = Sight{Entry{ID: id}.shown(), scores[i].Err() == nil, scores[i].Val(), r.State}
	}
	return all, nil
}

// Ends are the ids of the last event and the last report; "0" where there is none.
func (p *Pool) Ends(ctx context.Context) (event, report string, err error) {
	last := func(stream string) string {
		var entries []redis.XMessage
		if err == nil {
			entries, err = p.client.XRevRangeN(ctx, stream, "+", "-", 1).Result()
		}
		if len(entries) == 0 {
			return "0"
		}
		return entries[0].ID
	}
	event, report = last(p.keys.events()), last(p.keys.reports())
	if err != nil {
		return "", "", fmt.Errorf("read streams: %w", err)
	}
	return event, report, nil
}

// Reports reads up to n reports after an entry, as workers wrote them, and takes none from
// the daemons.
func (p *Pool) Reports(ctx context.Context, after string, n int64) (reports []record.Report, last string, err error) {
	entries, err := p.client.XRangeN(ctx, p.keys.reports(), "("+after, "+", n).Result()
	if err != nil {
		return nil, after, fmt.Errorf("read reports: %w", err)
	}
	last = after
	for _, e := range entries {
		r := record.Report{Entry: e.ID}
		fields := map[string]*string{"endpoint": &r.Endpoint, "outcome": &r.Outcome, "stage": &r.Stage, "reason": &r.Reason, "worker": &r.Worker, "at_ms": &r.WorkerMs}
		for name, v := range e.Values {
			text := fmt.Sprint(v)
			r.Size += len(name) + len(text)
			if f := fields[name]; f != nil {
				*f = text
			}
		}
		reports, last = append(reports, r), e.ID
	}
	return reports, last, nil
}

// Overdue are the tokens of jobs whose time limit is over and that nobody has ended yet, at most n.
func (p *Pool) Overdue(ctx context.Context, n int64) ([]string, error) {
	now, err := p.Time(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := p.client.ZRangeByScore(ctx, p.keys.jobs(), &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(now, 10), Count: n}).Result()
	if err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	return tokens, nil
}

// WorkersKeys are the keys of the pool that workers change by scripts only: the eligible set first.
func (p *Pool) WorkersKeys() []string {
	return []string{p.keys.eligible(), p.keys.inflight(), p.keys.jobs(), p.keys.engaged()}
}

// WorkersScripts are the texts of the scripts that workers run, by name.
func WorkersScripts() map[string]string {
	texts := map[string]string{}
	for _, name := range []string{"allocate", "allocate_url", "acquire", "release", "report"} {
		text, err := luaFiles.ReadFile("lua/" + name + ".lua")
		if err != nil {
			panic(err)
		}
		texts[name] = string(text)
	}
	return texts
}

// ScriptDigests are the digests of every script that daemons and commands of this version run.
func ScriptDigests() (digests []string) {
	for _, s := range scripts {
		digests = append(digests, s.Hash())
	}
	return digests
}

// Monitor tells every command that the server executes, as MONITOR writes it, until ctx is
// over; began is called once it does. The lines can have secrets in them. It slows the server
// down by about half, and works on one server, or on the master behind sentinels.
func (p *Pool) Monitor(ctx context.Context, began func(), line func(string)) error {
	client, one := p.client.(*redis.Client)
	if !one {
		return errors.New("monitor: only one server can be watched, not a cluster")
	}
	o := client.Options()
	conn, err := o.Dialer(ctx, o.Network, o.Addr)
	if err != nil {
		return fmt.Errorf("monitor: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	in := bufio.NewReader(conn)
	if o.Password != "" {
		if err := say(conn, in, slices.DeleteFunc([]string{"AUTH", o.Username, o.Password}, func(s string) bool { return s == "" })...); err != nil {
			return err
		}
	}
	if err := say(conn, in, "MONITOR"); err != nil {
		return err
	}
	began()
	for {
		text, err := in.ReadString('\n')
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("monitor: %w", err)
		}
		line(strings.TrimRight(text, "\r\n"))
	}
}

// say sends one command and wants OK.
func say(conn net.Conn, in *bufio.Reader, words ...string) error {
	fmt.Fprintf(conn, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(w), w)
	}
	reply, err := in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("monitor: %w", err)
	}
	if strings.HasPrefix(reply, "-ERR unknown command") {
		return errors.New("monitor: this Redis has no MONITOR, the embedded one among them: use a redis-server, or leave --monitor out")
	}
	if !strings.HasPrefix(reply, "+OK") {
		return fmt.Errorf("monitor: %s", strings.TrimSpace(strings.TrimPrefix(reply, "-")))
	}
	return nil
}
