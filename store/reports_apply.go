package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ReportChange is what reports about one endpoint came to, to be carried out at once with
// their acknowledgement.
type ReportChange struct {
	Endpoint string         // empty: the entries are only acknowledged
	Entries  []string       // ids in the stream
	Delete   bool           // nobody may see them any more
	Tally    map[string]int // what they count as
	Old      string         // what was remembered of the endpoint, as read
	Next     string         // what is remembered then; empty: nothing
	Ask      bool           // move it to the urgent lane
	Asked    string         // with Ask: what is remembered instead, once it was asked for
	EndsMs   int64          // pool time from which that is worth nothing

	DueOld, DueNew int64 // of its recheck, as read and as it is put off; 0: it stays

	Stage, Reason, Detail string // of the event, with Ask
}

// What ApplyReports says of one item, beside Applied, Late (somebody else applied one of
// the entries) and Changed (what it was judged on is not so any more: judge again).
const (
	Sent      Code = 3 // applied, and moved to the urgent lane
	Throttled Code = 4 // applied, not moved: reports asked for too many probes
	PutOff    Code = 5 // applied, and the recheck put off
)

// ReportPriority is that of what reports ask for: an operator's request goes first.
const ReportPriority = 1000

// ApplyReports carries out what reports came to and acknowledges them, a code for each
// item; at most 200 entries in all. The fleet's reports ask for at most `asks` probes per
// second. It is safe to repeat: what was applied comes back Late.
func (p *Pool) ApplyReports(ctx context.Context, asks float64, items []ReportChange) ([]Code, error) {
	if len(items) == 0 {
		return nil, nil
	}
	names, args := p.reportApplyCall(asks, items)
	codes, err := p.codes(ctx, reportApplyScript, names, args)
	if err != nil {
		return nil, fmt.Errorf("apply reports: %w", err)
	}
	if slices.Contains(codes, Sent) {
		p.client.Publish(ctx, p.keys.wake(), "urgent") // the next tick serves it even if nobody hears
	}
	return codes, nil
}

// reportApplyCall are KEYS and ARGV of report_apply.lua.
func (p *Pool) reportApplyCall(asks float64, items []ReportChange) (names []string, args []any) {
	k := p.keys
	names = append(k.lanes(), k.leases(), k.clock(), k.meta(), k.reports(), k.reported(), k.suspects(), k.eligible(), k.budget(), k.events())
	args = append(p.call(0), eventsKept, reportGroup, ReportPriority, strconv.FormatFloat(asks, 'f', -1, 64))
	for _, r := range items {
		args = r.appendTo(args)
	}
	return names, args
}

// appendTo adds the item as report_item.lua has it.
func (r ReportChange) appendTo(args []any) []any {
	var tally []string
	for _, word := range slices.Sorted(maps.Keys(r.Tally)) {
		tally = append(tally, word, strconv.Itoa(r.Tally[word]))
	}
	deleted, asked := "0", ""
	if r.Delete {
		deleted = "1"
	}
	if r.Ask {
		asked = r.Asked
	}
	return append(args, r.Endpoint, strings.Join(r.Entries, " "), deleted, strings.Join(tally, " "), r.Old, r.Next, asked,
		r.EndsMs, r.DueOld, r.DueNew, r.Stage, r.Reason, r.Detail)
}
