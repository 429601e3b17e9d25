package scheduler

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"proxyward/internal/testenv"
)

func observed(p *reporting) *observer.ObservedLogs {
	core, logs := observer.New(zap.InfoLevel)
	p.log = zap.New(core)
	return logs
}

func said(logs *observer.ObservedLogs, message string) int { return logs.FilterMessage(message).Len() }

const (
	worked  = "reports of workers"
	dropped = "reports of workers are dropped: see docs/reports.md for what a report must be"
	cannot  = "reports of workers cannot be taken"
)

func TestDroppedReportsAreToldOnceAMinute(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts map[string]int // of each round, one a second
		rounds int
		want   int
	}{
		{"most are wrong", map[string]int{"unknown": 5, "applied": 1}, 59, 1},
		{"for three minutes", map[string]int{"malformed": 5, "applied": 1}, 180, 3},
		{"few are wrong", map[string]int{"unknown": 1, "applied": 9}, 180, 0},
		{"one a minute", map[string]int{"unknown": 1}, 1, 0},
		{"a password, among thousands", map[string]int{"password": 1, "applied": 9999}, 1, 1},
		{"what workers cannot know", map[string]int{"ineligible": 500, "answered": 500}, 59, 0},
		{"nothing", nil, 59, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &reporting{runner: &runner{}}
				logs := observed(p)
				for range c.rounds {
					p.tell(c.counts)
					time.Sleep(time.Second)
				}
				if n := said(logs, dropped); n != c.want {
					t.Errorf("told %d times, want %d", n, c.want)
				}
				if n := said(logs, worked); n != c.rounds && c.counts != nil || n != 0 && c.counts == nil {
					t.Errorf("%d lines for %d rounds", n, c.rounds)
				}
			})
		})
	}
}

// Somebody wrote something else into the key: it is told, once a minute, and mended by hand.
func TestAKeyOfAnotherTypeIsTold(t *testing.T) {
	t.Parallel()
	f := newReaders(t, testenv.Redis(t), "c", 1)
	p, ctx := f.all[0], context.Background()
	logs := observed(p)
	f.raw.Del(ctx, f.stream())
	f.raw.Set(ctx, f.stream(), "x", 0)
	for range 10 {
		p.round(ctx)
	}
	if said(logs, cannot) != 1 || logs.FilterMessage(cannot).All()[0].ContextMap()["what to do"] != "the key of the reports holds something else: delete it" {
		t.Errorf("%+v", logs.All())
	}
	f.raw.Del(ctx, f.stream())
	p.round(ctx)
	if err := f.write(endpointNo(0), "failed", "w", 1); err != nil {
		t.Fatal(err)
	}
	p.round(ctx)
	if err := f.verdict(); err != nil || p.faults != 0 {
		t.Error(err)
	}
}

func TestAStreamWithAnEntryOfTheFutureIsRenewed(t *testing.T) {
	t.Parallel()
	f := newReaders(t, testenv.Redis(t), "c", 1)
	p, ctx := f.all[0], context.Background()
	logs := observed(p)
	for _, id := range []string{fmt.Sprint(time.Now().Add(30*24*time.Hour).UnixMilli(), "-7"), "18446744073709551615-18446744073709551615"} {
		if err := f.raw.XAdd(ctx, &redis.XAddArgs{Stream: f.stream(), ID: id, Values: []string{"endpoint", "x"}}).Err(); err != nil {
			t.Fatal(err)
		}
		f.wrote++
		p.round(ctx)
		if err := f.write(endpointNo(0), "failed", "w", f.wrote); err != nil {
			t.Fatal(err)
		}
		if last := f.raw.XRevRangeN(ctx, f.stream(), "+", "-", 1).Val()[0].ID; last[:13] > fmt.Sprint(time.Now().Add(time.Hour).UnixMilli()) {
			t.Errorf("after %s: an entry at %s", id, last)
		}
		p.round(ctx)
	}
	if n := said(logs, "a report's id lies far in the future: the stream of reports is made anew, and what was in it is lost"); n != 2 {
		t.Errorf("told %d times", n)
	}
	if err := f.verdict(); err != nil {
		t.Error(err)
	}
}
