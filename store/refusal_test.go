package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

// refusing answers the first scripts with an error in the server's place.
type refusing struct {
	word  string
	times int
	sent  int // scripts seen, refused ones too
}

func (h *refusing) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *refusing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (h *refusing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !strings.HasPrefix(cmd.Name(), "eval") {
			return next(ctx, cmd)
		}
		if h.sent++; h.sent > h.times {
			return next(ctx, cmd)
		}
		err := errors.New(h.word + " for the test")
		cmd.SetErr(err)
		return err
	}
}

// What the server says it did not run is sent again; what it may have run is not.
func TestWhatIsSentAgain(t *testing.T) {
	url := testenv.Redis(t)
	for word, again := range map[string]bool{
		"TRYAGAIN": true, "CLUSTERDOWN": true, "MASTERDOWN": true, "LOADING": true, "READONLY": true, "ASK": true, "MOVED": true, "BUSY": true,
		"OOM": false, "MISCONF": false, "NOPERM": false, "WRONGTYPE": false, "ERR": false, "EOF": false,
	} {
		options, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		options.MaxRetries = -1
		c, hook := redis.NewClient(options), &refusing{word: word, times: 3}
		c.AddHook(hook)
		p := store.New(c, "").Pool("c")
		testenv.Client(t, url).FlushAll(t.Context())
		_, err = p.Claim(t.Context(), request(1))
		if again && (err != nil || hook.sent < 4) {
			t.Errorf("%s: sent %d times, %v", word, hook.sent, err)
		}
		if !again && (err == nil || hook.sent != 1) {
			t.Errorf("%s: sent %d times, %v", word, hook.sent, err)
		}
		c.Close()
	}
}

// A script of somebody else's that does not end holds everybody up; ours runs once after it.
func TestABusyServerIsWaitedFor(t *testing.T) {
	at := real(t)
	if err := at.raw.ConfigSet(t.Context(), "busy-reply-threshold", "50").Err(); err != nil {
		t.Fatal(err)
	}
	p := at.pool(t)
	plant(t, p, record.Candidate, 1, id(0))
	endless := testenv.Client(t, at.url)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		endless.Eval(context.Background(), "while true do end", nil)
	}()
	testenv.Eventually(t, 10*time.Second, "the server is busy", func() bool {
		return strings.HasPrefix(at.raw.Ping(t.Context()).String(), "ping: BUSY")
	})
	time.AfterFunc(300*time.Millisecond, func() { at.raw.ScriptKill(context.Background()) })
	if g := claim(t, p, request(5)); len(g.Leases) != 1 {
		t.Errorf("%d leases", len(g.Leases))
	}
	<-ended
}
