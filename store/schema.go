package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

// Schema is the version of all that a pool consists of: its keys, its records, and what the
// scripts hold true of them. It grows when an older proxyward could no longer work on a pool,
// or a newer one must change what it finds. docs/repair.md says what each version is.
const Schema = 2

// ErrNewer says that a pool was written by a newer proxyward, whose schema this one does not
// know: it must not be written to.
type ErrNewer struct {
	Check string
	Pool  int // schema of the pool
	Mine  int
}

// Error says what to do.
func (e ErrNewer) Error() string {
	return fmt.Sprintf("the pool of check %s has schema %d, this proxyward knows schemas up to %d: run the newer proxyward that wrote it"+
		" (to go back, purge the pool and import an export made before)", e.Check, e.Pool, e.Mine)
}

// upgrade brings a pool from one schema to the next. It goes in bounded batches, may be
// broken off and begun again, and any number of daemons may do it at once.
type upgrade struct {
	from int
	what string // it changes, in a few words
	do   func(context.Context, *Pool) error
}

// upgrades are all there are, from the oldest on.
var upgrades = []upgrade{
	{1, "the schema is written down", func(context.Context, *Pool) error { return nil }},
}

// Fit makes the pool one that this proxyward can work on: a new pool gets the schema
// written, an older one is brought up to it, a newer one is an ErrNewer. bare is true when no
// schema was written down: for who had written one, everything in the pool was lost since.
func (p *Pool) Fit(ctx context.Context) (bare bool, err error) { return p.fit(ctx, Schema, upgrades) }

func (p *Pool) fit(ctx context.Context, mine int, steps []upgrade) (bare bool, err error) {
	have, bare, err := p.schema(ctx, mine, "")
	if err != nil || have == mine {
		return bare, err
	}
	if have > mine {
		return false, ErrNewer{p.check, have, mine}
	}
	for _, s := range steps {
		if s.from < have {
			continue
		}
		if err := s.do(ctx, p); err != nil {
			return false, fmt.Errorf("upgrade the pool of check %s from schema %d (%s): %w", p.check, s.from, s.what, err)
		}
	}
	now, _, err := p.schema(ctx, mine, strconv.Itoa(have))
	if err == nil && now != mine { // another daemon, newer still, was faster
		return false, ErrNewer{p.check, now, mine}
	}
	return bare, err
}

// schema runs schema.lua.
func (p *Pool) schema(ctx context.Context, mine int, done string) (have int, bare bool, err error) {
	reply, err := p.run(ctx, schemaScript, []string{p.keys.meta(), p.keys.endpoints()}, []any{mine, done}).StringSlice()
	if err != nil {
		return 0, false, fmt.Errorf("read schema: %w", err)
	}
	if have, err = strconv.Atoi(reply[0]); err != nil {
		return 0, false, fmt.Errorf("the pool of check %s has schema %q, which is no number: repair its field `schema` in %s", p.check, reply[0], p.keys.meta())
	}
	return have, reply[1] == "1", nil
}

// Anew forgets the pool time heard so far: a Redis that lost everything lost the pool's
// clock too, and its time may be an earlier one.
func (p *Pool) Anew() {
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	p.seen.ms, p.seen.moved = 0, false
}

// Known refuses a pool of a newer schema, and reads only: for commands.
func (p *Pool) Known(ctx context.Context) error {
	text, err := p.client.HGet(ctx, p.keys.meta(), "schema").Result()
	if errors.Is(err, redis.Nil) || denied(err) { // who may not look may not write either
		return nil
	}
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	if have, err := strconv.Atoi(text); err == nil && have > Schema {
		return ErrNewer{p.check, have, Schema}
	}
	return nil
}

// rewrite is what an upgrade of records is made of: convert gives the record to write for
// the bytes that are kept, and false where they are right already. Records that changed
// meanwhile are read again.
func (p *Pool) rewrite(ctx context.Context, convert func(raw string) (record.Record, bool)) error {
	return p.scanIDs(ctx, p.keys.endpoints(), func(ids []string) error {
		for try := 0; len(ids) > 0; try++ {
			if try == rewriteTries {
				return fmt.Errorf("%s keeps changing", ids[0])
			}
			again, err := p.rewriteSome(ctx, ids, convert)
			if err != nil {
				return err
			}
			ids = again
		}
		return nil
	})
}

const rewriteTries = 100

// rewriteSome gives back the ids of the records that changed meanwhile.
func (p *Pool) rewriteSome(ctx context.Context, ids []string, convert func(raw string) (record.Record, bool)) (again []string, err error) {
	entries, _, err := p.Look(ctx, ids)
	if err != nil {
		return nil, err
	}
	changed := map[string]record.Record{}
	var old []Entry
	for _, e := range entries {
		if rec, write := convert(e.Raw); e.Known() && write {
			changed[e.ID], old = rec, append(old, e)
		}
	}
	codes, err := p.stand(ctx, old, func(e Entry) aim { return e.as(changed[e.ID]) })
	for i, code := range codes {
		if code == Changed {
			again = append(again, old[i].ID)
		}
	}
	return again, err
}

// as is the endpoint where it stands, with another record.
func (e Entry) as(rec record.Record) aim {
	a := aim{raw: rec.Encode(), state: rec.State, from: e.countedAs(), url: "=", lane: record.NoLane, token: e.Token, holdMs: rec.HoldUntilMs, silent: true}
	for lane, due := range e.Lanes {
		a.lane, a.due = lane, due
	}
	if e.Member {
		a.member = isMember
	}
	return a
}
