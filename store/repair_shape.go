package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// shape is the type of each key of a pool, as Redis names types.
func (k keys) shape() map[string]string {
	types := map[string]string{k.guard(): "list", k.reports(): "stream", k.events(): "stream"}
	for _, key := range append(k.lanes(), k.eligible(), k.leases(), k.admitted(), k.suspects(), k.daemons(), k.holds(), k.jobs(), k.inflight()) {
		types[key] = "zset"
	}
	for _, key := range k.all() {
		if types[key] == "" {
			types[key] = "hash"
		}
	}
	return types
}

// Reshape says which keys hold something else than they must, and what in the pool's books
// cannot be; with mend that is dropped. It is what must be mended before all else: with a
// key of another type no script works.
func (p *Pool) Reshape(ctx context.Context, mend bool) (found []Violation, err error) {
	found, err = p.shapes(ctx, mend)
	if err != nil || len(found) > 0 && !mend {
		return found, err
	}
	more, err := p.books(ctx, mend)
	if n := len(found) + len(more); mend && n > 0 && err == nil {
		err = p.client.HIncrBy(ctx, p.keys.meta(), "repaired:K", int64(n)).Err()
	}
	return append(found, more...), err
}

// shapes says which keys hold something that no script can work on, and with mend removes
// them: nothing of the pool can be in them. What the records say is then put there again.
func (p *Pool) shapes(ctx context.Context, mend bool) (found []Violation, err error) {
	shape, types, tx := p.keys.shape(), map[string]*redis.StatusCmd{}, p.client.TxPipeline()
	for key := range shape {
		types[key] = tx.Type(ctx, key)
	}
	if err := exec(ctx, tx); err != nil {
		return nil, fmt.Errorf("look at the keys' types: %w", err)
	}
	lost := false // something that a list may bring back
	for _, key := range sortedKeys(shape) {
		is := types[key].Val()
		if is == "none" || is == shape[key] {
			continue
		}
		lost = lost || key == p.keys.endpoints() || key == p.keys.urls()
		v := Violation{Invariant: "K", What: fmt.Sprintf("%s holds a %s, where a %s"+belongs, key, is, shape[key])}
		if mend {
			if err := p.client.Unlink(ctx, key).Err(); err != nil {
				return found, fmt.Errorf("remove what is no part of the pool: %w", err)
			}
			v.Mended = true
		}
		found = append(found, v)
	}
	if mend && lost {
		err = p.Relist(ctx)
	}
	return found, err
}

// shape reports whether it is a key that no script can work on.
func (v Violation) shape() bool { return v.Invariant == "K" && strings.HasSuffix(v.What, belongs) }

const belongs = " belongs"

// books says what is wrong in what the pool remembers about itself, and with mend drops it:
// what is no number, and times that cannot be.
func (p *Pool) books(ctx context.Context, mend bool) (found []Violation, err error) {
	clock, err := p.Clock(ctx)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{p.keys.meta(), p.keys.budget(), p.keys.clock()} {
		fields, err := p.client.HGetAll(ctx, key).Result()
		if err != nil {
			return found, fmt.Errorf("read what the pool remembers: %w", err)
		}
		var bad []string
		for _, field := range sortedKeys(fields) {
			if !bookable(field, fields[field], clock) {
				bad = append(bad, field)
			}
		}
		if mend && len(bad) > 0 {
			if err := p.client.HDel(ctx, key, bad...).Err(); err != nil {
				return found, fmt.Errorf("drop what cannot be: %w", err)
			}
		}
		for _, field := range bad {
			found = append(found, Violation{Invariant: "K", What: fmt.Sprintf("%s has the field %.40q, whose value cannot be", key, field), Mended: mend})
		}
	}
	return found, nil
}

// wordy are fields that hold no number.
var wordy = []string{"fingerprint", "guard_why", "grants"}

// bookable reports whether a field of meta, budget or clock can hold that value now.
func bookable(field, value string, c Clock) bool {
	prefix, _, _ := strings.Cut(field, ":")
	if slices.Contains(wordy, field) || prefix == "sum" || prefix == "refresh" || prefix == "cohort" {
		return true
	}
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || n != n:
		return false
	case field == "offset":
		return n > -aeon && n < aeon
	case n < 0 || n >= 1<<53:
		return false
	case field == "high":
		return n <= float64(c.Server+aeon)
	case field == "guard_ms", field == "last_commit_ms":
		return n <= float64(c.now()+clockSlack)
	case field == "held":
		return n <= float64(c.now()+longestLease)
	}
	return true
}

// aeon is the 30 years, in ms, beyond which clock.lua believes nothing.
const aeon = 1e12

// clockSlack is how far what was written at pool time may be ahead of a time read since, in ms.
const clockSlack = 600_000
