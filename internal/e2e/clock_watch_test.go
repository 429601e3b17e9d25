package e2e_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// clockWatch reads the pool's clock again and again.
type clockWatch struct {
	mu      sync.Mutex
	high    int64   // the last pool time, ms
	offsets []int64 // ms, each that differs from the one before
	reads   int
	back    []string
}

// watchClock watches until the test ends.
func watchClock(t *testing.T, client *redis.Client) *clockWatch {
	t.Helper()
	w := &clockWatch{}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			w.read(ctx, client)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { stop(); <-over })
	return w
}

func (w *clockWatch) read(ctx context.Context, client *redis.Client) {
	raw := client.HMGet(ctx, "proxyward:{c}:clock", "offset", "high").Val()
	if len(raw) != 2 || raw[0] == nil || raw[1] == nil {
		return
	}
	offset, _ := strconv.ParseInt(raw[0].(string), 10, 64)
	high, _ := strconv.ParseInt(raw[1].(string), 10, 64)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if high < w.high {
		w.back = append(w.back, fmt.Sprintf("%d to %d", w.high, high))
	}
	w.high = high
	if n := len(w.offsets); n == 0 || w.offsets[n-1] != offset {
		w.offsets = append(w.offsets, offset)
	}
}

// now is the last pool time seen.
func (w *clockWatch) now() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.high) * time.Millisecond
}

// steady checks that pool time never went back and that its offset changed so many times.
func (w *clockWatch) steady(t *testing.T, corrections int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.back) > 0 {
		t.Errorf("the pool's time went back: %v", w.back)
	}
	if len(w.offsets)-1 != corrections {
		t.Errorf("the offset changed %d times, not %d: %v", len(w.offsets)-1, corrections, w.offsets)
	}
	if w.reads < 200 {
		t.Errorf("the clock was read %d times", w.reads)
	}
}
