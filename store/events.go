package store

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

// In events, what an endpoint that had no record comes from, and where one that has none any
// more goes to.
const (
	Fresh record.State = "new"
	None  record.State = "none"
)

// Events reads up to n entries of the events stream after the id `after` ("0": from the
// first one kept), with the id of the last one read.
func (p *Pool) Events(ctx context.Context, after string, n int64) (events []map[string]string, last string, err error) {
	entries, err := p.client.XRangeN(ctx, p.keys.events(), "("+after, "+", n).Result()
	if err != nil {
		return nil, after, fmt.Errorf("read events: %w", err)
	}
	for _, e := range entries {
		fields := map[string]string{}
		for name, v := range e.Values {
			fields[name], _ = v.(string)
		}
		events, last = append(events, fields), e.ID
	}
	if last == "" {
		last = after
	}
	return events, last, nil
}

// Tell writes an event about the check as a whole: endpoint *, by the operator.
func (p *Pool) Tell(ctx context.Context, reason, detail string) error {
	err := p.client.XAdd(ctx, &redis.XAddArgs{Stream: p.keys.events(), MaxLen: eventsKept, Approx: true, Values: []any{
		"endpoint", "*", "from", "", "to", "", "stage", "", "reason", reason, "blame", "", "by", string(record.ByOperator),
		"pause_ms", 0, "detail", detail, "at_ms", p.Now(), "probe", ""}}).Err()
	if err != nil {
		return fmt.Errorf("tell an event: %w", err)
	}
	return nil
}
