package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

// Status is the state of one pool at one instant.
type Status struct {
	Now          int64 // pool time, ms
	States       map[record.State]int64
	Lanes        map[record.Lane]Queue
	Leases       int64
	Jobs         int64 // live ones of workers, where the check counts them
	Trials       int64 // leases from the recovery lane: endpoints permitted now
	Admitted     int64 // admissions of the last window
	Trickle      int64 // admissions the fleet may make per window, as of the last claim
	Daemons      map[string]int64
	LastCommitMs int64
	LowestScore  int64
	Guard        GuardState
}

// Queue is one lane.
type Queue struct {
	Waiting int64
	Due     int64
	NextMs  int64 // pool time at which the first is due; 0: none, or the urgent lane
}

// Status reads the pool in one transaction, or, while Redis is full, piece by piece.
func (p *Pool) Status(ctx context.Context) (Status, error) {
	now, err := p.Time(ctx)
	if err != nil {
		return Status{}, err
	}
	s, err := p.status(ctx, now, p.client.TxPipeline())
	if full(err) {
		s, err = p.status(ctx, now, p.client.Pipeline())
	}
	return s, err
}

// full reports whether Redis refuses transactions since its memory is full; it answers single
// commands that only read.
func full(err error) bool { return err != nil && strings.Contains(err.Error(), "OOM ") }

func (p *Pool) status(ctx context.Context, now int64, tx redis.Pipeliner) (Status, error) {
	k := p.keys
	counts, daemons, tokens := tx.HGetAll(ctx, k.counts()), tx.ZRangeWithScores(ctx, k.daemons(), 0, -1), tx.HVals(ctx, k.tokens())
	leases, admitted, jobs := tx.ZCard(ctx, k.leases()), tx.ZCard(ctx, k.admitted()), tx.ZCard(ctx, k.jobs())
	meta, trickle := tx.HMGet(ctx, k.meta(), "last_commit_ms", "lowest", "guard_ms", "guard_why", "guard_since", "guard_opened"), tx.HMGet(ctx, k.budget(), "trickle")
	type lane struct {
		waiting, due *redis.IntCmd
		next         *redis.ZSliceCmd
	}
	lanes := map[record.Lane]lane{}
	for _, l := range record.Lanes {
		key := k.lane(l)
		lanes[l] = lane{tx.ZCard(ctx, key), tx.ZCount(ctx, key, "-inf", dueBy(l, now)), tx.ZRangeWithScores(ctx, key, 0, 0)}
	}
	if err := exec(ctx, tx); err != nil {
		return Status{}, fmt.Errorf("read status: %w", err)
	}
	s := Status{Now: now, States: map[record.State]int64{}, Lanes: map[record.Lane]Queue{}, Daemons: map[string]int64{},
		Leases: leases.Val(), Jobs: jobs.Val(), Admitted: admitted.Val(), Trials: countLane(tokens.Val(), record.Recovery),
		Guard: guardState(meta.Val()[2:]), LastCommitMs: integer(meta.Val()[0]), LowestScore: integer(meta.Val()[1]),
		Trickle: integer(trickle.Val()[0])}
	for state, n := range counts.Val() {
		s.States[record.State(state)] = integer(n)
	}
	for _, d := range daemons.Val() {
		s.Daemons[d.Member.(string)] = int64(d.Score)
	}
	for l, q := range lanes {
		queue := Queue{Waiting: q.waiting.Val(), Due: q.due.Val()}
		if first := q.next.Val(); len(first) > 0 && l != record.Urgent {
			queue.NextMs = int64(first[0].Score)
		}
		s.Lanes[l] = queue
	}
	return s, nil
}

func dueBy(l record.Lane, now int64) string {
	if l == record.Urgent {
		return "+inf"
	}
	return strconv.FormatInt(now, 10)
}

func countLane(tokens []string, lane record.Lane) (n int64) {
	for _, t := range tokens {
		if laneOf(t) == lane {
			n++
		}
	}
	return n
}

func integer(v any) int64 {
	s, _ := v.(string)
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
