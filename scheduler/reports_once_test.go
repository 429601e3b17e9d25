package scheduler

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"proxyward/internal/testenv"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// readers are several daemons' readers of one stream, without the daemons.
type readers struct {
	raw    *redis.Client
	store  *store.Store
	check  string
	all    []*reporting
	counts map[string]int
	wrote  int
	bad    map[string]map[string]bool // endpoint to the marks of bad reports about it
}

func newReaders(t testing.TB, url, check string, n int) *readers {
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f := &readers{raw: testenv.Client(t, url), store: s}
	f.begin(t, check, n)
	return f
}

// begin turns to a new check with three eligible endpoints.
func (f *readers) begin(t interface{ Fatal(...any) }, check string, n int) {
	f.check, f.all, f.counts, f.wrote, f.bad = check, nil, map[string]int{}, 0, map[string]map[string]bool{}
	c := Check{Name: check, Policy: policy.Policy{Recheck: time.Hour, Confirm: time.Second}, Limits: Limits{Rate: 1e6},
		Reports: Reports{SuspectAfter: 3, Within: time.Minute, DistinctWorkers: 1, Stretch: 2}}
	for i := range n {
		d := &Daemon{Options: Options{Name: fmt.Sprint("d", i), Log: zap.NewNop()}, health: newHealth(zap.NewNop())}
		f.all = append(f.all, newReporting(&runner{Daemon: d, check: c, pool: f.store.Pool(check), log: zap.NewNop()}))
	}
	var changes []store.Change
	for i := range 3 {
		rec := record.Record{State: record.Eligible, Sources: []string{"file:l"}}
		changes = append(changes, store.Change{ID: endpointNo(i), Transition: record.Transition{To: record.Eligible, Next: rec, DueMs: 1 << 45, DelayMs: 1 << 45}})
	}
	if _, err := f.all[0].pool.Amend(context.Background(), changes); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.all[0].pool.ReadReports(context.Background(), f.all[0].Name); err != nil { // makes the group
		t.Fatal(err)
	}
}

func endpointNo(i int) string { return fmt.Sprintf("http://10.0.0.1:%d", 1000+i) }

func (f *readers) stream() string { return "proxyward:{" + f.check + "}:reports" }

func (f *readers) write(endpoint, outcome, worker string, ms int) error {
	f.wrote++
	if outcome == "failed" {
		if f.bad[endpoint] == nil {
			f.bad[endpoint] = map[string]bool{}
		}
		f.bad[endpoint][fmt.Sprint(worker, ms)] = true
	}
	return f.raw.XAdd(context.Background(), &redis.XAddArgs{Stream: f.stream(), Values: []any{"endpoint", endpoint, "outcome", outcome, "worker", worker, "at_ms", ms}}).Err()
}

// abandon makes what a daemon took look as if it had taken it long ago.
func (f *readers) abandon(daemon string) error {
	ctx := context.Background()
	left, err := f.raw.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: f.stream(), Group: "proxyward", Start: "-", End: "+", Count: 1000, Consumer: daemon}).Result()
	for _, p := range left {
		// The count of deliveries stays what it is: a daemon that dies in a test dies often.
		err = f.raw.Do(ctx, "XCLAIM", f.stream(), "proxyward", daemon, 0, p.ID, "IDLE", 11_000, "RETRYCOUNT", 1, "JUSTID").Err()
	}
	return err
}

// finish has the first daemon take all that is left.
func (f *readers) finish() error {
	for {
		for _, p := range f.all {
			if err := f.abandon(p.Name); err != nil {
				return err
			}
		}
		came := outcome{counts: map[string]int{}}
		batch, now, err := f.all[0].pool.ReadReports(context.Background(), f.all[0].Name)
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := f.all[0].apply(context.Background(), batch, now, &came); err != nil {
			return err
		}
	}
}

// verdict says what is wrong: each report counts once, and an endpoint is asked for once,
// if and only if three different bad reports were written about it.
func (f *readers) verdict() error {
	ctx := context.Background()
	counts, err := f.all[0].pool.ReportCounts(ctx)
	if err != nil {
		return err
	}
	sum, asked := int64(0), map[string]int{}
	for word, n := range counts {
		if word != "asked" && word != "stretched" {
			sum += n
		}
	}
	if sum != int64(f.wrote) || counts["throttled"] > 0 || counts["lost"] > 0 {
		return fmt.Errorf("of %d reports: %v", f.wrote, counts)
	}
	events, _, err := f.all[0].pool.Events(ctx, "0", 1000)
	if err != nil {
		return err
	}
	for _, e := range events {
		asked[e["endpoint"]]++
	}
	for i := range 3 {
		want := 0
		if len(f.bad[endpointNo(i)]) >= 3 {
			want = 1
		}
		if id := endpointNo(i); asked[id] != want {
			return fmt.Errorf("%s asked for %d times, want %d: %d bad reports; %v", id, asked[id], want, len(f.bad[id]), counts)
		}
	}
	return nil
}

// Daemons read, apply, die before they applied, and come late to what others applied, in
// any order. -rapid.checks=N runs N traces.
func TestEachReportCountsOnceWhoeverDies(t *testing.T) {
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", "100"); err != nil {
			t.Fatal(err)
		}
	}
	f, traces, ctx := newReaders(t, testenv.Redis(t), "c", 2), 0, context.Background()
	type batch struct {
		reports []record.Report
		now     int64
	}
	rapid.Check(t, func(t *rapid.T) {
		traces++
		f.begin(t, fmt.Sprint("trace", traces), 2)
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		held := map[int][]batch{}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				e := rapid.IntRange(0, 3).Draw(t, "endpoint") // the last one is unknown
				outcome := rapid.SampledFrom([]string{"failed", "failed", "ok", "nonsense"}).Draw(t, "outcome")
				must(f.write(endpointNo(e), outcome, fmt.Sprint("w", rapid.IntRange(0, 1).Draw(t, "worker")), rapid.IntRange(1, 6).Draw(t, "ms")))
			},
			"read": func(t *rapid.T) {
				d := rapid.IntRange(0, 1).Draw(t, "daemon")
				list, now, err := f.all[d].pool.ReadReports(ctx, f.all[d].Name)
				must(err)
				held[d] = append(held[d], batch{list, now})
			},
			"apply": func(t *rapid.T) {
				d := rapid.IntRange(0, 1).Draw(t, "daemon")
				if len(held[d]) == 0 {
					t.Skip("nothing")
				}
				came := outcome{counts: map[string]int{}}
				must(f.all[d].apply(ctx, held[d][0].reports, held[d][0].now, &came))
				held[d] = held[d][1:]
			},
			"die": func(t *rapid.T) {
				d := rapid.IntRange(0, 1).Draw(t, "daemon")
				held[d] = nil
				must(f.abandon(f.all[d].Name))
			},
			"freeze": func(t *rapid.T) { must(f.abandon(f.all[rapid.IntRange(0, 1).Draw(t, "daemon")].Name)) },
		})
		must(f.finish())
		must(f.verdict())
		must(f.all[0].pool.Purge(ctx))
	})
}

// Four daemons at once, on three endpoints: what they judge changes under their hands.
func TestReportsAreCountedOnceByManyDaemonsAtOnce(t *testing.T) {
	t.Parallel()
	f := newReaders(t, testenv.Redis(t), "c", 4)
	for i := range 3000 {
		outcome := "failed"
		if i%3 == 0 {
			outcome = "ok"
		}
		if err := f.write(endpointNo(i%4), outcome, fmt.Sprint("w", i%7), i); err != nil {
			t.Fatal(err)
		}
	}
	var daemons sync.WaitGroup
	for _, p := range f.all {
		daemons.Go(func() {
			for range 20 {
				p.round(context.Background())
			}
		})
	}
	daemons.Wait()
	if err := f.finish(); err != nil {
		t.Fatal(err)
	}
	if err := f.verdict(); err != nil {
		t.Error(err)
	}
}
