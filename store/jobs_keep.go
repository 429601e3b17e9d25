package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Abandoned is what AbandonJobs came to.
type Abandoned struct {
	Ended int  // jobs whose time was over
	Whole bool // all who are eligible are counted; else FillJobs is to go on
}

// AbandonJobs ends the jobs whose time is over, and has live jobs counted from now on. What
// began while the server's clock had leapt, and the pool took that out, begins its limit anew.
// It is safe to repeat, and any daemon may.
func (p *Pool) AbandonJobs(ctx context.Context) (sum Abandoned, err error) {
	for {
		r, err := p.abandon(ctx, nil)
		sum.Ended, sum.Whole = sum.Ended+r.ended, r.whole
		if err != nil {
			return sum, fmt.Errorf("end abandoned jobs: %w", err)
		}
		if held := p.jobsHeld.Load(); held != r.held+1 { // the clock was corrected since, or nobody looked yet
			if _, err := p.shorten(ctx, r.now); err != nil {
				return sum, fmt.Errorf("end abandoned jobs: %w", err)
			}
			p.jobsHeld.CompareAndSwap(held, r.held+1)
		}
		if r.ended < batch {
			return sum, nil
		}
	}
}

// abandonReply is what abandon.lua returns.
type abandonReply struct {
	now, held     int64
	ended, mended int
	whole         bool
}

func (p *Pool) abandonCall(tokens []string) (names []string, args []any) {
	k := p.keys
	args = p.call(0)
	for _, t := range tokens {
		args = append(args, t)
	}
	return []string{k.jobs(), k.clock(), k.meta(), k.inflight(), k.engaged()}, args
}

func (p *Pool) abandon(ctx context.Context, tokens []string) (r abandonReply, err error) {
	names, args := p.abandonCall(tokens)
	reply, err := p.run(ctx, abandonScript, names, args).StringSlice()
	if err == nil && len(reply) != 5 {
		err = fmt.Errorf("a reply of %d values", len(reply))
	}
	if err != nil {
		return r, err
	}
	return abandonReply{now: integer(reply[0]), ended: int(integer(reply[1])), mended: int(integer(reply[2])),
		held: integer(reply[3]), whole: reply[4] == "1"}, nil
}

// shorten goes through all jobs for those that would end later than their limit allows at
// pool time now.
func (p *Pool) shorten(ctx context.Context, now int64) (n int, err error) {
	for cursor := uint64(0); ; {
		items, next, err := p.client.ZScan(ctx, p.keys.jobs(), cursor, "", batch).Result()
		if err != nil {
			return n, err
		}
		var late []string
		for i := 0; i+1 < len(items); i += 2 {
			ends, _ := strconv.ParseFloat(items[i+1], 64)
			if t, ok := jobOf(items[i]); ok && ends > float64(now+t.limit) {
				late = append(late, items[i])
			}
		}
		done, err := p.mendJobs(ctx, late)
		n += done
		if cursor = next; cursor == 0 || err != nil {
			return n, err
		}
	}
}

// mendJobs has jobs end when they should, and drops what is no token.
func (p *Pool) mendJobs(ctx context.Context, tokens []string) (n int, err error) {
	for len(tokens) > 0 && err == nil {
		var r abandonReply
		some := tokens[:min(batch, len(tokens))]
		r, err = p.abandon(ctx, some)
		n, tokens = n+r.mended, tokens[len(some):]
	}
	return n, err
}

// FillJobs goes on counting who is eligible, from a place in the eligible set on: 0 is its
// beginning, and, as next, its end. ids is how many it read. It is safe to repeat.
func (p *Pool) FillJobs(ctx context.Context, at uint64) (next uint64, ids int, err error) {
	members, next, err := p.scanBatch(ctx, p.keys.eligible(), at)
	if err != nil {
		return at, 0, err
	}
	ids = len(members)
	k := p.keys
	for first := true; first || len(members) > 0; first = false {
		n := min(batch, len(members))
		args := []any{map[bool]int{true: 1}[next == 0 && n == len(members)]}
		for _, id := range members[:n] {
			args = append(args, id)
		}
		if err := p.run(ctx, jobsFillScript, []string{k.eligible(), k.meta(), k.inflight(), k.engaged()}, args).Err(); err != nil {
			return at, 0, fmt.Errorf("count live jobs: %w", err)
		}
		members = members[n:]
	}
	return next, ids, nil
}

// DropJobs removes what was counted of live jobs, where a daemon has counted them; dropped says
// that one had. Tokens that workers still hold end nothing then. Where none had, left is how many
// jobs workers took all the same: they stay, for a daemon that counts. It is safe to repeat.
func (p *Pool) DropJobs(ctx context.Context) (dropped bool, left int64, err error) {
	k, pipe := p.keys, p.client.Pipeline()
	on, jobs := pipe.HGet(ctx, k.meta(), "jobs"), pipe.ZCard(ctx, k.jobs())
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return false, 0, fmt.Errorf("drop jobs: %w", err)
	}
	if on.Val() != "1" {
		return false, jobs.Val(), nil
	}
	tx := p.client.TxPipeline()
	tx.HDel(ctx, k.meta(), "jobs", "jobs_whole")
	tx.Unlink(ctx, k.jobs(), k.inflight(), k.engaged())
	if err := exec(ctx, tx); err != nil {
		return false, 0, fmt.Errorf("drop jobs: %w", err)
	}
	return true, 0, nil
}
