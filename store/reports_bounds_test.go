package store_test

import (
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"proxyward/store/record"
)

func TestTheStreamIsBoundedWithoutADaemon(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		for i := range 12_000 {
			at.report(t, id(0), "failed", "w", i+1)
		}
		if n := at.raw.XLen(t.Context(), at.key("reports")).Val(); n < 10_000 || n > 10_200 {
			t.Errorf("%d entries", n)
		}
		// A worker that does not bound it: the daemon does.
		pipe := at.raw.Pipeline()
		for range 3000 {
			pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: at.key("reports"), Values: []string{"endpoint", id(1)}})
		}
		if _, err := pipe.Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		reports(t, p, "a")
		if n := at.raw.XLen(t.Context(), at.key("reports")).Val(); n < 10_000 || n > 10_200 {
			t.Errorf("%d entries after a daemon read", n)
		}
	})
}

func TestTheWorkersScriptRefusesLongFields(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		text, err := os.ReadFile("lua/report.lua")
		if err != nil {
			t.Fatal(err)
		}
		for i, most := range []int{4096, 64, 64, 64, 128, 64} {
			for _, n := range []int{most, most + 1} {
				args := []any{"e", "failed", "s", "r", "w", "1"}
				args[i] = strings.Repeat("x", n)
				if err := at.raw.Eval(t.Context(), string(text), []string{at.key("reports")}, args...).Err(); (err == nil) != (n == most) {
					t.Errorf("field %d of %d bytes: %v", i, n, err)
				}
			}
		}
		if n := at.raw.XLen(t.Context(), at.key("reports")).Val(); n != 6 {
			t.Errorf("%d entries", n)
		}
	})
}

func TestHugeReportsAreCutBeforeTheyAreRead(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		at.raw.XAdd(t.Context(), &redis.XAddArgs{Stream: at.key("reports"), Values: []string{"endpoint", strings.Repeat("e", 5<<20), "other", strings.Repeat("o", 100)}})
		at.raw.XAdd(t.Context(), &redis.XAddArgs{Stream: at.key("reports"), Values: []string{"endpoint", id(0), "endpoint", id(1), "", ""}})
		r := reports(t, p, "a")
		if len(r) != 2 || len(r[0].Endpoint) != record.LongestReport+1 || r[0].Size != 8+(5<<20)+5+100 {
			t.Fatalf("%d reports, %d bytes of an endpoint", len(r), len(r[0].Endpoint))
		}
		if r[1].Endpoint != id(1) || r[1].Outcome != "" {
			t.Errorf("%+v", r[1])
		}
	})
}

func TestTheGroupIsMadeAnewAfterAFlush(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		reports(t, p, "a")
		at.flush(t)
		at.report(t, id(0), "failed", "w", 1)
		if n := len(reports(t, p, "a")); n != 1 {
			t.Errorf("%d reports after a flush", n)
		}
	})
}

// Somebody can write an entry so far in the future that no other one fits after it.
func TestAnExhaustedStreamIsRenewed(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		last := "18446744073709551615-18446744073709551615"
		if err := at.raw.XAdd(t.Context(), &redis.XAddArgs{Stream: at.key("reports"), ID: last, Values: []string{"endpoint", id(0)}}).Err(); err != nil {
			t.Fatal(err)
		}
		if r := reports(t, p, "a"); len(r) != 1 || r[0].Entry != last || r[0].AtMs > now(t, p) {
			t.Fatalf("%+v", r)
		}
		if err := p.RenewReports(t.Context()); err != nil {
			t.Fatal(err)
		}
		at.report(t, id(1), "failed", "w", 1)
		if r := reports(t, p, "a"); len(r) != 1 || r[0].Endpoint != id(1) {
			t.Errorf("%+v", r)
		}
	})
}

func TestReadersThatAreGoneAreRemoved(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		at.report(t, id(0), "failed", "w", 1)
		reports(t, p, "busy")
		reports(t, p, "idle")
		for _, daemon := range []string{"busy", "idle", "stranger"} {
			if err := p.LeaveReports(t.Context(), daemon); err != nil {
				t.Fatal(err)
			}
		}
		left := at.raw.XInfoConsumers(t.Context(), at.key("reports"), "proxyward").Val()
		if len(left) != 1 || left[0].Name != "busy" || at.pending(t) != 1 {
			t.Errorf("%+v", left)
		}
		at.flush(t)
		if err := p.LeaveReports(t.Context(), "busy"); err != nil {
			t.Errorf("without a stream: %v", err)
		}
	})
}
