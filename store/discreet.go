package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Discreet makes Look, Scan, Status and Time do without scripts and leave `urls` alone, for
// who may not use them or need not: entries then have their id for a URL. It returns the
// pool itself.
func (p *Pool) Discreet() *Pool {
	p.discreet = true
	return p
}

// look answers as look.lua does.
func (p *Pool) look(ctx context.Context, names []string, ids []any) (rows []any, err error) {
	if !p.discreet {
		return p.run(ctx, lookScript, names, ids).Slice()
	}
	err = p.again(ctx, func() error {
		rows, err = p.plainLook(ctx, ids)
		return err
	})
	return rows, err
}

// plainLook reads in one transaction, without a script and without `urls`; whether `inflight` is
// whole it does not ask.
func (p *Pool) plainLook(ctx context.Context, ids []any) ([]any, error) {
	k, tx := p.keys, p.client.TxPipeline()
	ask := func(command, key string) *redis.Cmd { return tx.Do(ctx, append([]any{command, key}, ids...)...) }
	columns := []*redis.Cmd{ask("hmget", k.endpoints()), nil, ask("zmscore", k.eligible())}
	for _, key := range append(k.lanes(), k.leases()) {
		columns = append(columns, ask("zmscore", key))
	}
	columns = append(columns, ask("hmget", k.tokens()), ask("zmscore", k.holds()), ask("zmscore", k.inflight()), ask("hmget", k.engaged()))
	if err := exec(ctx, tx); err != nil {
		return nil, err
	}
	rows := make([]any, len(ids))
	for i := range ids {
		row := make([]any, len(columns))
		for c, column := range columns {
			row[c] = cell(column, i)
		}
		rows[i] = row
	}
	return rows, nil
}

// cell is one value as a script would tell it: ” where there is none, a score in digits.
func cell(column *redis.Cmd, i int) string {
	if column == nil {
		return ""
	}
	values, _ := column.Slice()
	switch v := values[i].(type) {
	case float64: // of protocol 3
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		return v
	}
	return ""
}

// denials are what servers say to a user that lacks a command or a key; the last two come
// from inside a script, of Redis up to 7.0 and from 7.2 on.
var denials = []string{"NOPERM", "The user executing the script can't", "ACL failure in script"}

// denied reports whether the user may not do that.
func denied(err error) bool {
	if err == nil {
		return false
	}
	for _, sign := range denials {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

// exec carries a transaction out. Its error is that of the command which was refused, where
// one was: the transaction's own only says that it did not take place.
func exec(ctx context.Context, tx redis.Pipeliner) error {
	commands, err := tx.Exec(ctx)
	if err == nil || !strings.HasPrefix(err.Error(), "EXECABORT") {
		return err
	}
	for _, c := range commands {
		if cause := c.Err(); cause != nil && !strings.HasPrefix(cause.Error(), "EXECABORT") {
			return cause
		}
	}
	return err
}

// Clock is the pool's clock as it stands in Redis, in milliseconds.
type Clock struct {
	Server int64 // the server's own time
	Offset int64 // what the pool's time is ahead of it, but for a leap nobody took out yet
	High   int64 // the highest pool time any daemon was told; 0: none yet
	Held   int64 // no lease expires before this pool time; the last correction plus a lease period
}

// now is the pool's time: it never goes back.
func (c Clock) now() int64 { return max(c.Server+c.Offset, c.High) }

// Clock reads the pool's clock without moving it, and without a script.
func (p *Pool) Clock(ctx context.Context) (Clock, error) {
	node, err := p.node(ctx)
	if err != nil {
		return Clock{}, fmt.Errorf("read clock: %w", err)
	}
	var c Clock
	read := func(tx redis.Pipeliner) error {
		at, fields := tx.Time(ctx), tx.HMGet(ctx, p.keys.clock(), "offset", "high", "held")
		if err := exec(ctx, tx); err != nil {
			return err
		}
		c = Clock{Server: at.Val().UnixMilli()} // the server's clock
		c.read(fields.Val())
		return nil
	}
	err = p.again(ctx, func() error {
		err := read(node.TxPipeline())
		if full(err) {
			err = read(node.Pipeline())
		}
		return err
	})
	if err != nil {
		return Clock{}, fmt.Errorf("read clock: %w", err)
	}
	return c, nil
}

// read believes what clock.lua believes.
func (c *Clock) read(fields []any) {
	for i, to := range []*int64{&c.Offset, &c.High, &c.Held} {
		if text, _ := fields[i].(string); text != "" {
			*to, _ = strconv.ParseInt(text, 10, 64)
		}
	}
	if c.Offset <= -aeon || c.Offset >= aeon {
		c.Offset = 0
	}
	if c.High > c.Server+aeon {
		c.High = 0
	}
}

// plainTime is the pool's time for who may run no script.
func (p *Pool) plainTime(ctx context.Context) (int64, error) {
	c, err := p.Clock(ctx)
	if err != nil {
		return 0, err
	}
	p.seen.set(c.now(), false)
	return c.now(), nil
}

// node is the server that keeps this pool: TIME names no key, and must be asked there.
func (p *Pool) node(ctx context.Context) (redis.Cmdable, error) {
	if cluster, is := p.client.(*redis.ClusterClient); is {
		return cluster.MasterForKey(ctx, p.keys.clock())
	}
	return p.client, nil
}
