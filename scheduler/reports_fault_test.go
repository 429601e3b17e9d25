package scheduler

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store"
)

// breaker fails one call of a client, before or after Redis did it.
type breaker struct {
	calls, at int // at 0: none
	after     bool
}

var errBroken = errors.New("the connection broke")

func (b *breaker) DialHook(next redis.DialHook) redis.DialHook { return next }
func (b *breaker) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (b *breaker) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		b.calls++
		if b.calls != b.at {
			return next(ctx, cmd)
		}
		if b.after {
			next(ctx, cmd) // its reply is lost
		}
		cmd.SetErr(errBroken)
		return errBroken
	}
}

// Whichever call fails, and whether Redis did it or not: each report counts once in the end.
func TestAFailedCallLosesNoReportAndCountsNoneTwice(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	ctx := context.Background()
	for _, after := range []bool{false, true} {
		for at, again := 1, true; again; at++ {
			options, err := redis.ParseURL(url)
			if err != nil {
				t.Fatal(err)
			}
			options.MaxRetries = -1
			broken := &breaker{after: after}
			client := redis.NewClient(options)
			client.AddHook(broken)
			t.Cleanup(func() { client.Close() })
			f := newReaders(t, url, fmt.Sprint("c", at, after), 2)
			f.all[1].pool = store.New(client, "").Pool(f.check)
			for i := range 12 {
				if err := f.write(endpointNo(i%4), []string{"failed", "failed", "failed", "ok", "rubbish"}[i%5], "w", i+1); err != nil {
					t.Fatal(err)
				}
			}
			broken.calls, broken.at = 0, at
			f.all[1].round(ctx)
			again = broken.calls >= at
			broken.at = 0
			f.all[1].round(ctx)
			if err := f.finish(); err != nil {
				t.Fatal(err)
			}
			if err := f.verdict(); err != nil {
				t.Errorf("call %d failed, done: %v: %v", at, after, err)
			}
			if !again && at < 5 {
				t.Errorf("only %d calls: too few to mean anything", at-1)
			}
		}
	}
}
