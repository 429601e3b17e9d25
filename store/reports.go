package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

const (
	reportGroup   = "proxyward"
	reportsKept   = 10_000           // about how many entries the stream holds; report.lua has the same
	takenOverAt   = 10 * time.Second // what was taken and not applied for this long, somebody else takes
	deliveries    = 5                // what was taken this often and never applied is given up
	silentReaders = time.Hour        // readers that have nothing and were silent for this long are removed
)

var (
	reportReadScript  = script("args", "clock", "report_entry", "report_read")
	reportApplyScript = script("args", "clock", "urge", "report_item", "report_settle", "report_follow", "report_apply")
)

// ReadReports takes up to 200 reports for a daemon: what another one, or this one, took and
// did not apply for 10 s, then new ones. They are pending until ApplyReports. now is the
// pool's time.
func (p *Pool) ReadReports(ctx context.Context, daemon string) (reports []record.Report, now int64, err error) {
	names, args := p.reportReadCall(daemon)
	reply, err := p.run(ctx, reportReadScript, names, args).StringSlice()
	if noGroup(err) { // the first time, or after Redis lost it
		if err := p.makeReportGroup(ctx); err != nil {
			return nil, 0, err
		}
		reply, err = p.run(ctx, reportReadScript, names, args).StringSlice()
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read reports: %w", err)
	}
	return reportsOf(reply)
}

// reportReadCall are KEYS and ARGV of report_read.lua.
func (p *Pool) reportReadCall(daemon string) (names []string, args []any) {
	k := p.keys
	return []string{k.reports(), k.clock(), k.meta(), k.reported(), k.suspects()},
		append(p.call(0), reportGroup, daemon, takenOverAt.Milliseconds(), batch, record.LongestReport+1, deliveries, reportsKept)
}

func noGroup(err error) bool { return err != nil && strings.Contains(err.Error(), "NOGROUP") }

// makeReportGroup makes the stream and its group; what is in the stream is read.
func (p *Pool) makeReportGroup(ctx context.Context) error {
	err := p.client.XGroupCreateMkStream(ctx, p.keys.reports(), reportGroup, "0").Err()
	if err != nil && !redis.HasErrorPrefix(err, "BUSYGROUP") {
		return fmt.Errorf("read reports: make the consumer group: %w", err)
	}
	return nil
}

func reportsOf(reply []string) (reports []record.Report, now int64, err error) {
	const width = 9
	if len(reply)%width != 1 {
		return nil, 0, fmt.Errorf("read reports: a reply of %d values", len(reply))
	}
	number := func(s string) int64 {
		n, bad := strconv.ParseInt(s, 10, 64)
		err = errors.Join(err, bad)
		return n
	}
	now = number(reply[0])
	for row := reply[1:]; len(row) > 0; row = row[width:] {
		reports = append(reports, record.Report{Entry: row[0], AtMs: number(row[1]), Size: int(number(row[2])),
			Endpoint: row[3], Outcome: row[4], Stage: row[5], Reason: row[6], Worker: row[7], WorkerMs: row[8]})
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read reports: bad reply: %w", err)
	}
	return reports, now, nil
}

// Reported reads what earlier reports about endpoints came to, as ApplyReports left it;
// empty where there is nothing.
func (p *Pool) Reported(ctx context.Context, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	values, err := p.client.HMGet(ctx, p.keys.reported(), ids...).Result()
	if err != nil {
		return nil, fmt.Errorf("read what was reported: %w", err)
	}
	states := make([]string, len(values))
	for i, v := range values {
		states[i], _ = v.(string)
	}
	return states, nil
}

// ReportCounts is how many reports came to what, since the pool began.
func (p *Pool) ReportCounts(ctx context.Context) (map[string]int64, error) {
	fields, err := p.client.HGetAll(ctx, p.keys.meta()).Result()
	if err != nil {
		return nil, fmt.Errorf("count reports: %w", err)
	}
	counts := map[string]int64{}
	for name, n := range fields {
		if word, is := strings.CutPrefix(name, "reports:"); is {
			counts[word] = integer(n)
		}
	}
	return counts, nil
}

// RenewReports makes the stream anew: one that somebody wrote an entry far in the future
// into takes no sound ones any more. What was in it is lost.
func (p *Pool) RenewReports(ctx context.Context) error {
	if err := p.client.Unlink(ctx, p.keys.reports()).Err(); err != nil {
		return fmt.Errorf("renew the stream of reports: %w", err)
	}
	return p.makeReportGroup(ctx)
}

// LeaveReports takes a daemon off the stream's readers, and others that are long gone.
// Those who have reports that are not applied stay until somebody takes these over.
func (p *Pool) LeaveReports(ctx context.Context, daemon string) error {
	readers, err := p.client.XInfoConsumers(ctx, p.keys.reports(), reportGroup).Result()
	if err != nil {
		if noGroup(err) || strings.Contains(err.Error(), "no such key") {
			return nil
		}
		return fmt.Errorf("list readers of reports: %w", err)
	}
	for _, r := range readers {
		if r.Pending > 0 || r.Name != daemon && r.Idle < silentReaders {
			continue
		}
		if err := p.client.XGroupDelConsumer(ctx, p.keys.reports(), reportGroup, r.Name).Err(); err != nil {
			return fmt.Errorf("remove a reader of reports: %w", err)
		}
	}
	return nil
}
