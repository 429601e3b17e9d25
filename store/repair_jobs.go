package store

import (
	"context"
	"fmt"
	"strconv"
)

// jobs checks I8 as a whole, and mends what is wrong unless the sweep only looks.
func (s *Sweep) jobs(ctx context.Context) ([]Violation, error) {
	p := s.pool
	l, err := p.liveJobs(ctx)
	if err != nil || !l.on {
		return nil, err
	}
	found := l.check()
	if !s.mend || len(found) == 0 {
		return found, nil
	}
	if len(l.secret) > 0 {
		members := make([]any, len(l.secret))
		for i, token := range l.secret {
			members[i] = token
		}
		if err := p.client.ZRem(ctx, p.keys.jobs(), members...).Err(); err != nil {
			return found, fmt.Errorf("drop jobs: %w", err)
		}
	}
	if _, err := p.mendJobs(ctx, append(l.none, l.late...)); err != nil {
		return found, fmt.Errorf("mend jobs: %w", err)
	}
	wrong := l.wrong()
	mended, err := p.countJobs(ctx, wrong)
	for i := range found {
		found[i].Mended = err == nil
	}
	for i, c := range wrong[:len(mended)] {
		for f := range found {
			if mended[i] != Applied && found[f].Endpoint == (Entry{ID: c.id}).shown() {
				found[f].Mended = false
			}
		}
	}
	return found, err
}

// countJobs corrects what is counted of endpoints, a code for each: Applied or Changed.
func (p *Pool) countJobs(ctx context.Context, wrong []counted) (all []Code, err error) {
	k := p.keys
	names := []string{k.jobs(), k.eligible(), k.meta(), k.inflight(), k.engaged()}
	for len(wrong) > 0 {
		var args []any
		n := 0
		for ; n < len(wrong) && n < batch && len(args) < 10*batch; n++ {
			args = wrong[n].appendTo(args)
		}
		codes, err := p.codes(ctx, jobsCountScript, names, args)
		if err != nil {
			return all, fmt.Errorf("correct counts of jobs: %w", err)
		}
		all, wrong = append(all, codes...), wrong[n:]
	}
	return all, nil
}

// appendTo adds the endpoint as one item of jobs_count.lua.
func (c counted) appendTo(args []any) []any {
	some := c.tokens[:min(len(c.tokens), tokensRead)]
	args = append(args, c.id, strconv.FormatFloat(c.inflight, 'g', -1, 64), c.engaged, len(c.tokens), len(some))
	for _, token := range some {
		args = append(args, token)
	}
	return args
}
