package scheduler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"proxyward/internal/testenv"
)

// faults is a hook of the Redis client that lets chosen calls fail.
type faults struct {
	fails func(n int) (fail, after bool) // of the nth call; after: it took effect, the reply is lost

	mu     sync.Mutex
	calls  int
	failed []string // what failed, in words
}

// errLost is what a caller sees of a connection that broke.
var errLost = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

// next counts a call and says what becomes of it.
func (f *faults) next(what string) (fail, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if fail, after = f.fails(f.calls); fail {
		f.failed = append(f.failed, fmt.Sprintf("call %d (%s)", f.calls, what))
	}
	return fail, after
}

func (f *faults) fired() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.failed)
}

// DialHook lets connections be made.
func (f *faults) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook lets single commands and scripts fail.
func (f *faults) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		fail, after := f.next(inWords(cmd))
		if !fail {
			return next(ctx, cmd)
		}
		if after {
			next(ctx, cmd)
		}
		cmd.SetErr(errLost)
		return errLost
	}
}

// ProcessPipelineHook lets transactions fail, each as one call.
func (f *faults) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		fail, after := f.next("transaction with " + inWords(cmds[0]))
		if !fail {
			return next(ctx, cmds)
		}
		if after {
			next(ctx, cmds)
		}
		for _, cmd := range cmds {
			cmd.SetErr(errLost)
		}
		return errLost
	}
}

// inWords is a command without most of what it carries.
func inWords(cmd redis.Cmder) string {
	args := cmd.Args()
	return fmt.Sprintf("%.8s %.44s", fmt.Sprint(args[0]), fmt.Sprint(args[1:min(len(args), 4)]...))
}

// plainOptions are a client's that sends every call once.
func plainOptions() *redis.Options {
	return &redis.Options{Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialerRetries: 1, PoolSize: 100, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}}
}

// The whole story of a small pool is told once for each call that a daemon or an operator
// makes in it; that call fails, before it took effect or after. Redis is in memory and time
// is the bubble's own: what takes half a minute of waiting is over at once. It keeps both
// cores busy, so it is not parallel to the tests that watch the clock.
func TestAnyOneCallToRedisMayFail(t *testing.T) {
	const atOnce = 8
	step := 1
	if testing.Short() || testenv.Race { // .ci/run tells it without the race detector too
		step = 25
	}
	for name, after := range map[string]bool{"before it took effect": false, "after it took effect": true} {
		t.Run(name, func(t *testing.T) {
			var failed atomic.Int64
			for told := int64(0); failed.Load() == told && !t.Failed(); told += atOnce { // until a story passes untouched
				t.Run(fmt.Sprintf("calls from %d", told*int64(step)+1), func(t *testing.T) {
					for i := range atOnce {
						n := int(told)*step + i*step + 1
						t.Run(fmt.Sprint(n), func(t *testing.T) {
							t.Parallel()
							f := &faults{fails: func(call int) (bool, bool) { return call == n, after }}
							farm := testenv.NewFarm(t, storySize) // outside: its time is the real one
							synctest.Test(t, func(t *testing.T) { inMemory(t, f, farm) })
							failed.Add(int64(len(f.fired())))
						})
					}
				})
			}
			t.Logf("%d calls failed %s, one in each story", failed.Load(), name)
			if failed.Load()*int64(step) < 60 && !t.Failed() {
				t.Error("the story has so few calls that it tells too little")
			}
		})
	}
}

func inMemory(t *testing.T, f *faults, farm *testenv.Farm) {
	m := miniredis.NewMiniRedis()
	defer m.Close()
	dial := plainOptions()
	dial.Dialer = func(context.Context, string, string) (net.Conn, error) { return m.Dial() }
	tell(t, f, farm, dial)
}

// On a real server one call in ten fails, by turns before and after it took effect.
func TestOneCallInTenToARealRedisFails(t *testing.T) {
	t.Parallel()
	o, err := redis.ParseURL(testenv.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	dial := plainOptions()
	dial.Addr = o.Addr
	f := &faults{fails: func(int) (bool, bool) { return rand.N(10) == 0, rand.N(2) == 0 }}
	tell(t, f, testenv.NewFarm(t, storySize), dial)
	t.Logf("%d of %d calls failed", len(f.fired()), f.calls)
}
