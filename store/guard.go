package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// GuardState is whether the guard is open, for the whole fleet.
type GuardState struct {
	OpenMs  int64  // pool time since which it is open; 0: it is closed
	Why     string // of its last move
	SinceMs int64  // pool time at which the failures that opened it began
	Opened  int64  // how often it opened so far
}

// seenKept is how many results the guard decides from.
const seenKept = 50

// Seen is one of the last results of endpoints that were eligible when they were claimed.
type Seen struct {
	ID   string
	Kind string // p passed, t failed by the target or by silence, f failed otherwise
	AtMs int64  // pool time at which it was judged
	In   bool   // it is in the eligible set now
}

// GuardView is what the guard decides from, at one instant.
type GuardView struct {
	GuardState
	Last     []Seen // newest first; the store keeps the last 50
	Eligible int64
}

// Guard reads what the guard decides from.
func (p *Pool) Guard(ctx context.Context) (GuardView, error) {
	tx := p.client.TxPipeline()
	last, eligible := tx.LRange(ctx, p.keys.guard(), 0, -1), tx.ZCard(ctx, p.keys.eligible())
	meta := tx.HMGet(ctx, p.keys.meta(), "guard_ms", "guard_why", "guard_since", "guard_opened")
	if err := exec(ctx, tx); err != nil {
		return GuardView{}, fmt.Errorf("read guard: %w", err)
	}
	v := GuardView{GuardState: guardState(meta.Val()), Eligible: eligible.Val()}
	for _, entry := range last.Val() {
		kind, rest, _ := strings.Cut(entry, " ")
		at, id, whole := strings.Cut(rest, " ")
		ms, err := strconv.ParseInt(at, 10, 64)
		if whole && err == nil { // others are not ours
			v.Last = append(v.Last, Seen{ID: id, Kind: kind, AtMs: ms})
		}
	}
	return v, p.members(ctx, v.Last)
}

// members notes who is in the eligible set.
func (p *Pool) members(ctx context.Context, last []Seen) error {
	tx := p.client.Pipeline()
	scores := make([]*redis.FloatCmd, len(last))
	for i, s := range last {
		scores[i] = tx.ZScore(ctx, p.keys.eligible(), s.ID)
	}
	if len(last) > 0 {
		if err := exec(ctx, tx); err != nil && !errors.Is(err, redis.Nil) {
			return fmt.Errorf("read guard: %w", err)
		}
	}
	for i := range last {
		last[i].In = scores[i].Err() == nil
	}
	return nil
}

// MoveGuard opens or closes the guard and tells it as an event. moved is false when it
// stood so already: then nothing is written. sinceMs is when the failures began. It is safe
// to repeat.
func (p *Pool) MoveGuard(ctx context.Context, open bool, why string, sinceMs int64) (moved bool, nowMs int64, err error) {
	flag := map[bool]string{true: "1", false: "0"}[open]
	reply, err := p.run(ctx, guardScript, []string{p.keys.meta(), p.keys.events(), p.keys.clock()},
		append(p.call(0), eventsKept, flag, why, sinceMs)).StringSlice()
	if err != nil {
		return false, 0, fmt.Errorf("move guard: %w", err)
	}
	nowMs, err = strconv.ParseInt(reply[1], 10, 64)
	if err != nil {
		return false, 0, fmt.Errorf("move guard: bad reply: %w", err)
	}
	return reply[0] == "1", nowMs, nil
}

// Ejected lists endpoints that probes took out of the eligible set since pool time sinceMs,
// as far back as the events are kept.
func (p *Pool) Ejected(ctx context.Context, sinceMs int64) (ids []string, err error) {
	seen := map[string]bool{}
	for end := "+"; ; {
		entries, err := p.client.XRevRangeN(ctx, p.keys.events(), end, "-", 1000).Result()
		if err != nil {
			return ids, fmt.Errorf("list ejected endpoints: %w", err)
		}
		for _, e := range entries {
			if integer(e.Values["at_ms"]) < sinceMs {
				return ids, nil
			}
			id, _ := e.Values["endpoint"].(string)
			if e.Values["from"] == "eligible" && e.Values["to"] == "cooling" && e.Values["by"] == "probe" && !seen[id] {
				seen[id], ids = true, append(ids, id)
			}
		}
		if len(entries) == 0 {
			return ids, nil
		}
		end = "(" + entries[len(entries)-1].ID
	}
}

func guardState(meta []any) GuardState {
	why, _ := meta[1].(string)
	return GuardState{OpenMs: integer(meta[0]), Why: why, SinceMs: integer(meta[2]), Opened: integer(meta[3])}
}
