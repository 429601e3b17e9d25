package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"proxyward/internal/testenv"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// jobbing is a pool of n eligible endpoints whose live jobs daemons count.
func jobbing(t *testing.T, url string, n int) (p *store.Pool, raw *redis.Client, stop func()) {
	t.Helper()
	p, raw = openPool(t, url), testenv.Client(t, url)
	farm := testenv.NewFarm(t, n)
	enroll(t, p, farm, n)
	c := testCheck(t)
	c.Jobs = true
	stop = startDaemon(t, url, c)
	startDaemon(t, url, c) // any daemon may, and two do no harm
	testenv.Eventually(t, 20*time.Second, "all eligible and counted", func() bool {
		return states(t, p)[record.Eligible] == int64(n) && raw.ZCard(t.Context(), key("inflight")).Val() == int64(n) &&
			raw.HGet(t.Context(), key("meta"), "jobs_whole").Val() == "1"
	})
	return p, raw, stop
}

func TestAbandonedJobsEndWithinTheirLimitAndATick(t *testing.T) {
	t.Parallel()
	testenv.EachRedis(t, func(t *testing.T, url string) {
		p, raw, _ := jobbing(t, url, 4)
		late := lateness(t)
		const limit, n = 2 * time.Second, 300
		began := time.Now()
		for range n {
			if _, ok, err := p.Acquire(t.Context(), limit, 0); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		kept, _, err := p.Acquire(t.Context(), time.Hour, 0)
		if err != nil {
			t.Fatal(err)
		}
		last := time.Now()
		live := func() int64 { return raw.ZCard(context.Background(), key("jobs")).Val() }
		for live() == n+1 {
			time.Sleep(5 * time.Millisecond)
		}
		if took := time.Since(began); took < limit {
			t.Errorf("the first ended after %v", took)
		}
		for live() > 1 && time.Since(last) < time.Minute {
			time.Sleep(5 * time.Millisecond)
		}
		took := time.Since(last)
		const tick = 1500 * time.Millisecond // and a daemon's own moment after it, half a tick
		if slack := late() + 500*time.Millisecond; took > limit+tick+slack {
			t.Errorf("the last ended %v after it began, want %v and a tick", took, limit)
		}
		if e := look(t, p, kept.Endpoint); e.Jobs != 1 || live() != 1 {
			t.Errorf("%d live jobs of the one that goes on", e.Jobs)
		}
		sound(t, p)
	})
}

// A pool that is there gets its members counted, and all that was counted goes again.
func TestJobsAreSwitchedOnAndOffWhileWorkersWork(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, raw, farm := openPool(t, url), testenv.Client(t, url), testenv.NewFarm(t, 5)
	enroll(t, p, farm, 5)
	c := testCheck(t)
	c.Fingerprint = "off"
	stop := startDaemon(t, url, c)
	testenv.Eventually(t, 20*time.Second, "5 eligible", func() bool { return states(t, p)[record.Eligible] == 5 })
	early, ok, err := p.Acquire(t.Context(), time.Hour, 1) // a worker that was quicker
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	on := c
	on.Jobs, on.Fingerprint = true, "on"
	stopOn := startDaemon(t, url, on) // the other one stands by now, and drops nothing
	testenv.Eventually(t, 20*time.Second, "all counted", func() bool {
		return raw.ZCard(t.Context(), key("inflight")).Val() == 5 && raw.HGet(t.Context(), key("meta"), "jobs_whole").Val() == "1"
	})
	testenv.Eventually(t, 20*time.Second, "some ticks pass", ticksPassed(t, p, 6500))
	if ended, err := p.Release(t.Context(), early.Token); err != nil || !ended {
		t.Errorf("the job of before was dropped: %v %v", ended, err)
	}
	if _, ok, err := p.Acquire(t.Context(), time.Hour, 1); !ok || err != nil {
		t.Error(ok, err)
	}
	sound(t, p)
	stopOn()
	stop()
	startDaemon(t, url, c)
	testenv.Eventually(t, 20*time.Second, "all removed", func() bool {
		return raw.Exists(t.Context(), key("jobs"), key("inflight"), key("engaged")).Val() == 0 && !raw.HExists(t.Context(), key("meta"), "jobs").Val()
	})
	sound(t, p)
}

func TestJobsThatNobodyCountsAreTold(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	p, farm := openPool(t, url), testenv.NewFarm(t, 2)
	enroll(t, p, farm, 2)
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	core, logs := observer.New(zapcore.WarnLevel)
	d := scheduler.NewDaemon(scheduler.Options{Store: s, Prober: prober.New(16), Checks: []scheduler.Check{testCheck(t)}, Log: zap.New(core)})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx) }()
	testenv.Eventually(t, 20*time.Second, "a worker takes a job", func() bool {
		_, ok, err := p.Acquire(t.Context(), time.Hour, 0)
		return ok && err == nil
	})
	words := "workers take jobs of a check that counts none"
	testenv.Eventually(t, 20*time.Second, "it is told", func() bool { return logs.FilterMessageSnippet(words).Len() == 1 })
	testenv.Eventually(t, 20*time.Second, "more looks", ticksPassed(t, p, 6500))
	if n := logs.FilterMessageSnippet(words).Len(); n != 1 {
		t.Errorf("told %d times within a minute", n)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
