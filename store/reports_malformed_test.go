package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
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

func TestOneCallAppliesTwoHundredReportsAtMost(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, url string) {
		s, err := Open(Address{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		p := s.Pool("c")
		entry := suspected(t, p)
		for n, refused := range map[int]bool{200: false, 201: true} {
			_, err := p.ApplyReports(t.Context(), 5, []ReportChange{{Entries: slices.Repeat([]string{entry}, n), Tally: map[string]int{"unknown": n}}})
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), "more than 200 entries") {
				t.Errorf("%d entries: %v", n, err)
			}
		}
	})
}
