package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

// tally is all that counts are held against, at one instant.
type tally struct {
	counts    map[string]string
	records   int64
	members   int64
	lanes     map[record.Lane]int64
	leases    int64
	tokens    map[record.Lane]int64 // live leases by the lane they go back to
	recounted string                // how often the counts were corrected
	commitMs  string
}

func (p *Pool) tally(ctx context.Context) (t tally, err error) {
	k, tx := p.keys, p.client.TxPipeline()
	counts, records, members, tokens := tx.HGetAll(ctx, k.counts()), tx.HLen(ctx, k.endpoints()), tx.ZCard(ctx, k.eligible()), tx.HVals(ctx, k.tokens())
	leases, meta := tx.ZCard(ctx, k.leases()), tx.HMGet(ctx, k.meta(), "recounted", "last_commit_ms")
	lanes := map[record.Lane]*redis.IntCmd{}
	for _, l := range record.Lanes {
		lanes[l] = tx.ZCard(ctx, k.lane(l))
	}
	if err := exec(ctx, tx); err != nil {
		return t, fmt.Errorf("read counts: %w", err)
	}
	t = tally{counts: counts.Val(), records: records.Val(), members: members.Val(), leases: leases.Val(),
		lanes: map[record.Lane]int64{}, tokens: map[record.Lane]int64{}, recounted: "0"}
	for l, n := range lanes {
		t.lanes[l] = n.Val()
	}
	for _, token := range tokens.Val() {
		t.tokens[laneOf(token)]++
	}
	if n, ok := meta.Val()[0].(string); ok {
		t.recounted = n
	}
	t.commitMs, _ = meta.Val()[1].(string)
	return t, nil
}

func (t tally) count(s record.State) int64 { return integer(t.counts[string(s)]) }

// placed is how many wait in a lane or hold a lease.
func (t tally) placed() int64 {
	n := t.leases
	for _, waiting := range t.lanes {
		n += waiting
	}
	return n
}

// check holds the counts against I4.
func (t tally) check() (found []Violation) {
	add := func(what string, args ...any) {
		found = append(found, Violation{Invariant: "I4", What: fmt.Sprintf(what, args...)})
	}
	sum := int64(0)
	for _, field := range sortedKeys(t.counts) {
		n, err := strconv.ParseInt(t.counts[field], 10, 64)
		if err != nil || !slices.Contains(record.States, record.State(field)) {
			add("the count of %q counts nothing", field)
		}
		sum += n
	}
	if n := t.count(record.Eligible); n != t.members {
		add("counts say %d eligible, the set has %d", n, t.members)
	}
	if sum != t.records {
		add("counts add up to %d, there are %d records", sum, t.records)
	}
	disabled := t.count(record.Disabled) - t.tokens[record.NoLane]
	if placed := t.placed(); placed != t.records-disabled {
		add("lanes and leases hold %d, expected %d", placed, t.records-disabled)
	}
	return found
}

// off is by how much each count is wrong in a pool whose endpoints all stand where they
// should: how many there are of each state follows from the places, which Redis counts.
// Cooling ones and those permitted stand in the same places and are counted together here.
func (t tally) off() map[record.State]int64 {
	out := t.lanes[record.Recovery] + t.tokens[record.Recovery]
	disabled := t.records - t.placed() + t.tokens[record.NoLane]
	return map[record.State]int64{
		record.Eligible:  t.count(record.Eligible) - t.members,
		record.Cooling:   t.count(record.Cooling) + t.count(record.Permitted) - out,
		record.Disabled:  t.count(record.Disabled) - disabled,
		record.Candidate: t.count(record.Candidate) - (t.records - t.members - out - disabled),
	}
}
