package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	acquireScript   = script("acquire")
	releaseScript   = script("release")
	abandonScript   = script("args", "clock", "jobs", "abandon")
	jobsFillScript  = script("args", "jobs", "jobs_fill")
	jobsCountScript = script("args", "jobs", "jobs_count")
)

// LongestJob is the longest time limit of a job.
const LongestJob = 24 * time.Hour

// Job is one piece of a worker's work in flight.
type Job struct {
	Endpoint string
	URL      string // full proxy URL: a secret
	Token    string // ends it
}

// Acquire takes an endpoint for one job as a worker does: the eligible one with the fewest
// live jobs, fewest allocations first among equals. limit, in whole ms, is when the job counts
// as abandoned; nobody gets more than most live jobs, 0: any number. ok is false when nobody
// is free. It is not repeated when a reply is lost: the job then ends with its limit.
func (p *Pool) Acquire(ctx context.Context, limit time.Duration, most int) (j Job, ok bool, err error) {
	k := p.keys
	reply, err := p.run(ctx, acquireScript, []string{k.eligible(), k.inflight(), k.jobs(), k.clock(), k.urls()},
		[]any{limit.Milliseconds(), most}).StringSlice()
	if errors.Is(err, redis.Nil) {
		return j, false, nil
	}
	if err == nil && len(reply) != 3 {
		err = fmt.Errorf("a reply of %d values", len(reply))
	}
	if err != nil {
		return j, false, fmt.Errorf("acquire: %w", err)
	}
	return Job{Endpoint: reply[0], Token: reply[1], URL: reply[2]}, true, nil
}

// Release ends a job. ended is false when it was over already. It is safe to repeat.
func (p *Pool) Release(ctx context.Context, token string) (ended bool, err error) {
	k := p.keys
	n, err := p.run(ctx, releaseScript, []string{k.inflight(), k.jobs(), k.engaged(), k.reports()}, []any{token, ""}).Int()
	if err != nil {
		return false, fmt.Errorf("release: %w", err)
	}
	return n == 1, nil
}

// job is what a token says.
type job struct {
	id    string
	limit int64 // ms
}

var jobToken = regexp.MustCompile(`(?s)^[0-9]+\.([0-9]+)\.[0-9]+:(.+)$`)

// jobOf reads a token; ok is false for what is none, and for one with a password in it, which
// acquire.lua gives nobody.
func jobOf(token string) (j job, ok bool) {
	m := jobToken.FindStringSubmatch(token)
	if m == nil || leaksPassword(m[2]) {
		return j, false
	}
	return job{m[2], min(integer(m[1]), LongestJob.Milliseconds())}, true
}
