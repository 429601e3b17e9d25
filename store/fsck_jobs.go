package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// tokensRead is how many tokens of one endpoint a correction holds on to.
const tokensRead = 100

// liveJobs is all that counts of live jobs are held against, at one instant.
type liveJobs struct {
	on       bool
	by       map[string][]string // endpoint to the tokens of its live jobs
	inflight map[string]float64  // but for zeros
	engaged  map[string]string
	late     []string // tokens of jobs that end later than their limit allows
	none     []string // members that are no token
	secret   []string // tokens with a password in them
}

// liveJobs reads them. The server's clock may have leapt: then some are late.
func (p *Pool) liveJobs(ctx context.Context) (l liveJobs, err error) {
	k, tx := p.keys, p.client.TxPipeline()
	on, jobs, engaged := tx.HMGet(ctx, k.meta(), "jobs"), tx.ZRangeWithScores(ctx, k.jobs(), 0, -1), tx.HGetAll(ctx, k.engaged())
	below := tx.ZRangeByScoreWithScores(ctx, k.inflight(), &redis.ZRangeBy{Min: "-inf", Max: "(0"})
	above := tx.ZRangeByScoreWithScores(ctx, k.inflight(), &redis.ZRangeBy{Min: "(0", Max: "+inf"})
	if err := exec(ctx, tx); err != nil {
		return l, fmt.Errorf("read jobs: %w", err)
	}
	now, err := p.Time(ctx) // after all that it is held against
	if err != nil {
		return l, err
	}
	l = liveJobs{on: on.Val()[0] == "1", by: map[string][]string{}, inflight: map[string]float64{}, engaged: engaged.Val()}
	for _, z := range append(below.Val(), above.Val()...) {
		l.inflight[z.Member.(string)] = z.Score
	}
	for _, z := range jobs.Val() {
		l.add(z.Member.(string), z.Score, now)
	}
	return l, nil
}

func (l *liveJobs) add(token string, ends float64, now int64) {
	j, ok := jobOf(token)
	switch {
	case !ok && jobToken.MatchString(token):
		l.secret = append(l.secret, token)
		return
	case !ok:
		l.none = append(l.none, token)
		return
	case ends > float64(now+j.limit):
		l.late = append(l.late, token)
	}
	l.by[j.id] = append(l.by[j.id], token)
}

// counted is an endpoint whose live jobs are not those that are counted.
type counted struct {
	id       string
	inflight float64
	engaged  string
	tokens   []string
}

// wrong are the endpoints that are counted wrongly.
func (l liveJobs) wrong() (all []counted) {
	seen := map[string]bool{}
	look := func(id string) {
		c := counted{id, l.inflight[id], l.engaged[id], l.by[id]}
		if !seen[id] && !c.right() {
			all = append(all, c)
		}
		seen[id] = true
	}
	for id := range l.by {
		look(id)
	}
	for id := range l.inflight {
		look(id)
	}
	for id := range l.engaged {
		look(id)
	}
	return all
}

// right reports whether it is counted as it should be, in whichever key.
func (c counted) right() bool {
	away, err := strconv.ParseInt(c.engaged, 10, 64)
	if c.engaged != "" && (err != nil || away < 1) {
		return false
	}
	return c.inflight >= 0 && c.inflight+float64(away) == float64(len(c.tokens))
}

func (c counted) violation() Violation {
	v := Violation{Invariant: "I8", Endpoint: Entry{ID: c.id}.shown(), What: fmt.Sprintf("it has %d live jobs, inflight says %v", len(c.tokens), c.inflight)}
	if c.engaged != "" {
		v.What += fmt.Sprintf(" and engaged %q", c.engaged)
	}
	return v
}

// check holds the jobs against I8, as far as one picture of them tells.
func (l liveJobs) check() (found []Violation) {
	if !l.on {
		return nil
	}
	for what, tokens := range map[string][]string{
		"%d jobs end later than their limit allows": l.late, "%d members of jobs are no token": l.none, "%d members of jobs have a password in them": l.secret,
	} {
		if len(tokens) > 0 {
			found = append(found, Violation{Invariant: "I8", What: fmt.Sprintf(what, len(tokens))})
		}
	}
	for _, c := range l.wrong() {
		found = append(found, c.violation())
	}
	return found
}

// checkJobs holds where an endpoint's jobs are counted against I8.
func (e Entry) checkJobs(add func(string, string, ...any)) {
	if len(e.seen) <= seenWhole || e.seen[seenWhole] == "" {
		return
	}
	in, away := e.seen[seenInflight], e.seen[seenEngaged]
	switch {
	case e.Member && in == "":
		add("I8", "a member of the eligible set, yet it is not in inflight")
	case !e.Member && in != "":
		add("I8", "in inflight with %s, yet no member of the eligible set", in)
	case e.Member && away != "":
		add("I8", "a member of the eligible set, yet engaged has %q jobs of it", away)
	case in != "" && !exact(in):
		add("I8", "in inflight with %s, which counts nothing", in)
	}
}
