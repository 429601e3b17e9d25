package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// HoldSource takes or prolongs the right to refresh one source for a daemon; digest is
// that of the content last applied, empty when none was. With seize it is taken from whoever
// has it.
func (p *Pool) HoldSource(ctx context.Context, source, daemon string, d time.Duration, seize bool) (mine bool, digest string, err error) {
	reply, err := p.run(ctx, refreshScript, []string{p.keys.meta(), p.keys.clock()},
		append(p.call(0), source, daemon, d.Milliseconds(), map[bool]int{true: 1}[seize])).Slice()
	if err != nil {
		return false, "", fmt.Errorf("hold source: %w", err)
	}
	digest, _ = reply[1].(string)
	return reply[0] == int64(1), digest, nil
}

// SourceApplied remembers the digest of the content that is now in the pool.
func (p *Pool) SourceApplied(ctx context.Context, source, digest string) error {
	if err := p.client.HSet(ctx, p.keys.meta(), "sum:"+source, digest).Err(); err != nil {
		return fmt.Errorf("remember source: %w", err)
	}
	return nil
}

// Ended lists endpoints whose operator's hold has ended by pool time now, 200 at most.
func (p *Pool) Ended(ctx context.Context, now int64) ([]string, error) {
	ids, err := p.client.ZRangeByScore(ctx, p.keys.holds(), &redis.ZRangeBy{Min: "-inf",
		Max: strconv.FormatInt(now, 10), Count: batch}).Result()
	if err != nil {
		return nil, fmt.Errorf("list ended holds: %w", err)
	}
	return ids, nil
}

// Leave takes the daemon off the list of live ones, so that the others at once claim its share.
func (p *Pool) Leave(ctx context.Context, daemon string) error {
	if err := p.client.ZRem(ctx, p.keys.daemons(), daemon).Err(); err != nil {
		return fmt.Errorf("leave the fleet: %w", err)
	}
	return nil
}
