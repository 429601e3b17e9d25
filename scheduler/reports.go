package scheduler

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"proxyward/scheduler/suspect"
	"proxyward/store"
	"proxyward/store/record"
)

const (
	reportsEvery  = time.Second
	reportRounds  = 50             // batches read at once; then the next second
	reportTries   = 5              // how often a batch is judged again because what it was judged on changed
	reportShare   = 0.1            // of the rate of the check: what reports may ask for
	farAhead      = 7 * 24 * 3_600 // seconds that an entry's id may be ahead of the pool's time
	readersTidied = time.Hour
	complainEvery = time.Minute
)

// reporting reads what workers say, and has endpoints probed soon or later for it. What it
// remembers lies in Redis: any daemon goes on where another one stopped.
type reporting struct {
	*runner
	rules    suspect.Rules
	tidied   time.Time // when readers that are gone were last removed
	faults   int       // rounds that failed, one after the other
	told     time.Time // when a fault was last told
	dropping complaint
}

func newReporting(r *runner) *reporting {
	c := r.check.Reports
	return &reporting{runner: r, rules: suspect.Rules{After: c.SuspectAfter, Workers: c.DistinctWorkers, WithinMs: c.Within.Milliseconds(),
		QuietMs: max(c.Within, r.check.Policy.Confirm).Milliseconds(), RecheckMs: r.check.Policy.Recheck.Milliseconds(), Stretch: c.Stretch}}
}

// reporter takes workers' reports until ctx ends, where the check wants them.
func (r *runner) reporter(ctx context.Context) {
	if r.check.Reports.SuspectAfter <= 0 {
		return
	}
	p := newReporting(r)
	for ctx.Err() == nil {
		pause(ctx, reportsEvery)
		r.contain("reports", r.check.Name, func() { p.round(ctx) })
	}
	bye, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = r.pool.LeaveReports(bye, r.Name) // what stays behind is removed by the others in an hour
}

// round reads and applies all there is, within bounds, and says what came of it.
func (p *reporting) round(ctx context.Context) {
	came := outcome{counts: map[string]int{}}
	p.fault(ctx, p.takeAll(ctx, &came))
	if came.ahead {
		p.log.Warn("a report's id lies far in the future: the stream of reports is made anew, and what was in it is lost")
		p.fault(ctx, p.pool.RenewReports(ctx))
	}
	if time.Since(p.tidied) > readersTidied && p.faults == 0 && p.ready(ctx) {
		p.tidied = time.Now()
		p.fault(ctx, p.pool.LeaveReports(ctx, ""))
	}
	p.tell(came.counts)
}

// reportBatch is how many reports one read brings at most.
const reportBatch = 200

// takeAll reads and applies batches until one is not full.
func (p *reporting) takeAll(ctx context.Context, came *outcome) error {
	for n, full := 0, true; full && n < reportRounds && p.ready(ctx); n++ {
		batch, now, err := p.pool.ReadReports(ctx, p.Name)
		if err != nil {
			return err
		}
		full = len(batch) == reportBatch
		if err := p.apply(ctx, batch, now, came); err != nil {
			return err
		}
	}
	return nil
}

// fault tells what goes wrong again and again, once a minute. While Redis is away others
// have told so, and there are no rounds.
func (p *reporting) fault(ctx context.Context, err error) {
	if err == nil {
		p.faults = 0
		return
	}
	p.faults++
	if ctx.Err() != nil || p.faults < 3 || time.Since(p.told) < complainEvery {
		return
	}
	p.told = time.Now()
	what := "what was read comes again"
	if strings.Contains(err.Error(), "WRONGTYPE") {
		what = "the key of the reports holds something else: delete it"
	}
	p.log.Warn("reports of workers cannot be taken", zap.Error(err), zap.String("what to do", what))
}

// outcome is what came of the reports of one round.
type outcome struct {
	counts map[string]int
	ahead  bool // some entry was written far in the future
}

// subject is what one batch says about one endpoint.
type subject struct {
	id      string
	reports []suspect.Report
}

// apply judges a batch and has it carried out. What changed meanwhile is judged again; what
// keeps changing stays pending, and comes again.
func (p *reporting) apply(ctx context.Context, batch []record.Report, now int64, came *outcome) error {
	items, open := p.sort(batch, now, came)
	for try := 0; len(items)+len(open) > 0 && try < reportTries; try++ {
		about := make([]*subject, len(items)) // nobody
		more, err := p.judge(ctx, open, now)
		if err != nil {
			return err
		}
		about = append(about, open...)
		items = append(items, more...)
		codes, err := p.pool.ApplyReports(ctx, p.check.Limits.Rate*reportShare, items)
		if err != nil {
			return err
		}
		open = came.add(items, codes, about)
		items = nil
	}
	return nil
}

// add counts what was applied, and gives back what is to be judged again.
func (o *outcome) add(items []store.ReportChange, codes []store.Code, about []*subject) (again []*subject) {
	words := map[store.Code]string{store.Sent: "asked", store.Throttled: "throttled", store.PutOff: "stretched"}
	for i, code := range codes {
		switch code {
		case store.Late: // somebody else has applied it
			continue
		case store.Changed:
			again = append(again, about[i])
			continue
		}
		for word, n := range items[i].Tally {
			o.counts[word] += n
		}
		if word := words[code]; word != "" {
			o.counts[word]++
		}
	}
	return again
}

// sort drops what is not well formed, and puts the rest in order by endpoint.
func (p *reporting) sort(batch []record.Report, now int64, came *outcome) (dropped []store.ReportChange, by []*subject) {
	known := map[string]*subject{}
	for _, raw := range batch {
		came.ahead = came.ahead || ahead(raw.Entry, now)
		rep, cause := suspect.Read(raw)
		if cause != suspect.Applied {
			dropped = append(dropped, drop(cause, rep.Entry))
			continue
		}
		s := known[rep.Endpoint]
		if s == nil {
			s = &subject{id: rep.Endpoint}
			known[rep.Endpoint], by = s, append(by, s)
		}
		s.reports = append(s.reports, rep)
	}
	return dropped, by
}

// drop counts reports for nothing. Those with a password in them, and huge ones, are deleted.
func drop(cause suspect.Cause, entries ...string) store.ReportChange {
	return store.ReportChange{Entries: entries, Tally: map[string]int{string(cause): len(entries)},
		Delete: cause == suspect.Password || cause == suspect.Oversized}
}

func ahead(entry string, now int64) bool {
	ms, _, _ := strings.Cut(entry, "-")
	n, err := strconv.ParseUint(ms, 10, 64)
	return err == nil && n > uint64(now)+farAhead*1000
}

// judge says what reports about endpoints come to, an item for each, in order.
func (p *reporting) judge(ctx context.Context, by []*subject, now int64) ([]store.ReportChange, error) {
	if len(by) == 0 {
		return nil, nil
	}
	ids := make([]string, len(by))
	for i, s := range by {
		ids[i] = s.id
	}
	states, err := p.pool.Reported(ctx, ids)
	if err != nil {
		return nil, err
	}
	entries, _, err := p.pool.Look(ctx, ids) // a record that cannot be read is told by who claims it
	if err != nil {
		return nil, err
	}
	items := make([]store.ReportChange, len(by))
	for i, s := range by {
		items[i] = p.item(s, entries[i], states[i], now)
	}
	return items, nil
}

// item is what the reports about one endpoint come to.
func (p *reporting) item(s *subject, e store.Entry, state string, now int64) store.ReportChange {
	written := make([]string, len(s.reports))
	for i, rep := range s.reports {
		written[i] = rep.Entry
	}
	switch {
	case !e.Known():
		return drop(suspect.Unknown, written...)
	case !e.Member || e.Record.State != record.Eligible:
		return drop(suspect.Ineligible, written...)
	}
	facts := suspect.Facts{LastProbeMs: e.Record.LastProbeMs, DueMs: e.Lanes[record.Recheck],
		Proven: e.Record.LastProbeMs > 0 && e.Record.LastOKMs >= e.Record.LastProbeMs && e.Record.Fall == 0}
	j := suspect.Decode(state).Judge(s.reports, facts, p.rules, now, rand.Float64())
	c := store.ReportChange{Endpoint: s.id, Entries: written, Tally: map[string]int{}, Old: state, Next: j.Next.Encode(), EndsMs: j.Next.EndsMs(p.rules),
		Ask: j.Ask, Stage: j.Stage, Reason: j.Reason, Detail: j.Detail, DueOld: facts.DueMs, DueNew: j.DueMs}
	for cause, n := range j.Tally {
		c.Tally[string(cause)] = n
	}
	if j.Ask {
		c.Asked, c.EndsMs = j.Asked.Encode(), j.Asked.EndsMs(p.rules)
	}
	if c.Next == c.Old && !c.Ask && c.DueNew == 0 {
		c.Endpoint = "" // nothing to write but the count
	}
	return c
}
