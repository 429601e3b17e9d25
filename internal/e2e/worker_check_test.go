package e2e_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	worker "proxyward/examples/go"
	"proxyward/internal/testenv"
)

type workerVerdict struct {
	Allocations, Nil   int64
	Reports, Abandoned int
	Exact, Kept        bool
	Findings           []struct{ Rule, Who, What string }
}

func (v workerVerdict) rules() (rules []string) {
	for _, f := range v.Findings {
		rules = append(rules, f.Rule)
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// A worker that keeps the contract, and those who break it one way or another, while a daemon
// works: worker-check tells them apart, with MONITOR and, as far as it can, without.
func TestWorkerCheckTellsGoodWorkersFromBadOnes(t *testing.T) {
	t.Parallel()
	const eligible, reports, secret = "proxyward:{c}:eligible", "proxyward:{c}:reports", "http://ann:canary-Pa55@192.0.2.1:80"
	url, farm := testenv.Redis(t), testenv.NewFarm(t, 4)
	dead := "http://" + testenv.Nobody(t)
	list := dead + "\n"
	for i := range 4 {
		list += farm.ID(i) + "\n"
	}
	config := yaml(t, `
redis: {url: "REDIS"}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 3s}
    expect: {status: [200]}
    endpoints: [{file: "LIST"}]
    cooldown: {base: 1h, max: 1h}
    jobs: true
`, "REDIS", url, "LIST", file(t, "list", list))
	client := testenv.Client(t, url)
	start(t, "--config", config)
	testenv.Eventually(t, 20*time.Second, "4 eligible, counted, and one out", func() bool {
		return client.ZCard(t.Context(), eligible).Val() == 4 && client.ZCard(t.Context(), "proxyward:{c}:inflight").Val() == 4 &&
			client.ZCard(t.Context(), "proxyward:{c}:due:recovery").Val() == 1
	})
	check := func(want int, more ...string) workerVerdict {
		t.Helper()
		o := proxyward(t, append([]string{"worker-check", "--config", config, "--for", "3s", "--json"}, more...)...)
		if o.code != want {
			t.Errorf("exit status %d, want %d\n%s%s", o.code, want, o.out, o.err)
		}
		return decode[workerVerdict](t, o.out)
	}
	good := func(ctx context.Context, c *redis.Client) {
		pool, err := worker.New(c, os.DirFS("../../store/lua"), worker.Config{Check: "c", JobLimit: time.Minute})
		if err != nil {
			t.Error(err)
			return
		}
		if lease, err := pool.Take(ctx); err == nil && lease != nil {
			lease.Done(&worker.Failure{Stage: "connect", Reason: "timeout"})
		}
	}
	if v := check(1); v.Allocations != 0 || len(v.Findings) != 0 {
		t.Errorf("nobody works: %+v", v)
	}
	for _, c := range []struct {
		name               string
		do                 func(context.Context, *redis.Client)
		monitored, without []string // rules
	}{
		{"good", good, nil, nil},
		{"brings one back", func(ctx context.Context, c *redis.Client) {
			good(ctx, c)
			c.ZIncrBy(ctx, eligible, 1, dead)
		}, []string{"own-write", "removed-member"}, []string{"removed-member"}},
		{"reads, then increments", func(ctx context.Context, c *redis.Client) {
			for _, id := range c.ZRange(ctx, eligible, 0, 0).Val() {
				c.ZIncrBy(ctx, eligible, 1, id)
			}
		}, []string{"read-then-write"}, nil},
		{"sets a score", func(ctx context.Context, c *redis.Client) {
			good(ctx, c)
			c.ZAddXX(ctx, eligible, redis.Z{Member: farm.ID(0), Score: float64(time.Now().UnixMilli() / 400 % 2 * 1000)})
		}, []string{"lowered-score", "own-write"}, []string{"lowered-score"}},
		{"has a script of its own", func(ctx context.Context, c *redis.Client) {
			good(ctx, c)
			c.Eval(ctx, "return redis.call('ZINCRBY', KEYS[1], 1, ARGV[1])", []string{eligible}, farm.ID(1))
		}, []string{"other-script"}, nil},
		{"reports badly", func(ctx context.Context, c *redis.Client) {
			good(ctx, c)
			c.XAdd(ctx, &redis.XAddArgs{Stream: reports, Values: []any{"endpoint", secret, "outcome", "failed"}})
			c.XAdd(ctx, &redis.XAddArgs{Stream: reports, Values: []any{"endpoint", farm.ID(0), "outcome", "dunno"}})
		}, []string{"bad-report"}, []string{"bad-report"}},
	} {
		for _, monitored := range []bool{true, false} {
			ctx, stop := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				options, _ := redis.ParseURL(url)
				client := redis.NewClient(options) // each worker comes on connections of its own
				defer client.Close()
				for ctx.Err() == nil {
					c.do(ctx, client)
					select {
					case <-ctx.Done():
					case <-time.After(20 * time.Millisecond):
					}
				}
			}()
			want, more := c.without, []string(nil)
			if monitored {
				want, more = c.monitored, []string{"--monitor"}
			}
			code := 0
			if len(want) > 0 {
				code = 1
			}
			v := check(code, more...)
			stop()
			<-over
			if !slices.Equal(v.rules(), want) || v.Allocations < 10 || v.Exact != monitored || v.Kept != (code == 0) {
				t.Errorf("%s, monitored: %v: %+v, want %v", c.name, monitored, v, want)
			}
			proxyward(t, "fsck", "--config", config, "--repair") // what the last one left behind
		}
	}
	if o := proxyward(t, "worker-check", "--redis", "redis://"+testenv.Nobody(t)+"/0", "--check", "c"); o.code != 2 {
		t.Errorf("without Redis: exit status %d", o.code)
	}
}
