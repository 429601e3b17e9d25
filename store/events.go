package store

import (
	"context"
	"fmt"
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
