package store

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

func init() {
	spoilable["read reports"] = func(t *testing.T, p *Pool) (*redis.Script, []string, []any) {
		suspected(t, p)
		names, args := p.reportReadCall("d")
		return reportReadScript, names, args
	}
	spoilable["apply reports"] = func(t *testing.T, p *Pool) (*redis.Script, []string, []any) {
		entry := suspected(t, p)
		list, _, err := p.ReadReports(t.Context(), "d")
		if err != nil || len(list) != 1 || list[0].Entry != entry {
			t.Fatal(list, err)
		}
		names, args := p.reportApplyCall(5, []ReportChange{{Endpoint: "http://a:1", Entries: []string{entry}, Tally: map[string]int{"applied": 1},
			Next: "{}", Ask: true, Asked: "{}", EndsMs: 1 << 45, DueOld: 1, DueNew: 2, Stage: "connect", Reason: "refused", Detail: "words"}})
		return reportApplyScript, names, args
	}
}

// suspected is a pool with one eligible endpoint and one report about it.
func suspected(t *testing.T, p *Pool) (entry string) {
	t.Helper()
	c := Change{ID: "http://a:1", Transition: record.Transition{To: record.Eligible, Next: record.Record{State: record.Eligible}, DueMs: 1, DelayMs: 1}}
	if codes, err := p.Amend(t.Context(), []Change{c}); err != nil || codes[0] != Applied {
		t.Fatal(codes, err)
	}
	if err := p.makeReportGroup(t.Context()); err != nil {
		t.Fatal(err)
	}
	entry, err := p.client.XAdd(t.Context(), &redis.XAddArgs{Stream: p.keys.reports(), Values: []string{"endpoint", "http://a:1"}}).Result()
	if err != nil {
		t.Fatal(err)
	}
	return entry
}
