package scheduler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

type counter struct{ atomic.Int64 }

// caught counts and tells a contained panic.
func (d *Daemon) caught(what, name string, value any, stack []byte) {
	count := d.panics.Add(1)
	if stack == nil {
		stack = debug.Stack()
	}
	d.Log.Error("internal fault contained; please report it", zap.String("in", what), zap.String("name", name),
		zap.String("panic", fmt.Sprintf("%T", value)), zap.Int64("so_far", count),
		zap.ByteString("stack", stack))
}

const (
	firstPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
	patience   = 4 // a pause is the absence so far over this: what a failover takes grows by a quarter at most
)

// health knows whether Redis answers, tells each change once, and says when to try again.
type health struct {
	log   *zap.Logger
	first chan struct{} // closed when it answered for the first time
	again func()        // called when Redis may be asked anew; nil: nobody waits for it
	mend  atomic.Bool   // what Redis answered says that something in the pool is broken

	mu        sync.Mutex
	heardOnce bool
	away      time.Time       // since when; zero: it answers
	told      map[string]bool // reasons of this absence that were told
	next      time.Time       // no attempt before this
}

func newHealth(log *zap.Logger) *health { return &health{log: log, first: make(chan struct{})} }

// ready reports whether Redis may be asked now.
func (h *health) ready() bool { return h.wait() <= 0 }

// wait is how long to hold off.
func (h *health) wait() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Until(h.next)
}

// heard takes note of how a call to Redis ended.
func (h *health) heard(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	switch was := h.mend.Swap(spoilt(err)); {
	case spoilt(err) && !was:
		h.log.Error("redis answers, but something in the pool is broken: it is mended now, and otherwise `proxyward fsck` says more", zap.Error(err))
	case err == nil && was:
		h.log.Info("the pool works again")
	}
	if spoilt(err) { // there is nothing to wait for
		return
	}
	if err == nil && !h.heardOnce {
		h.heardOnce = true
		close(h.first)
	}
	switch {
	case err == nil && !h.away.IsZero():
		h.log.Info("redis is back", zap.Duration("after", now.Sub(h.away).Round(time.Millisecond)))
		h.away, h.next = time.Time{}, time.Time{}
	case err != nil && h.away.IsZero():
		h.log.Error("redis is away: workers go on with the set as it is; trying again, at most every 30 s",
			zap.Error(err), zap.String("what to do", remedy(err)))
		h.away, h.told = now, map[string]bool{remedy(err): true}
		h.hold(now, firstPause)
	case err != nil && !now.Before(h.next):
		if why := remedy(err); !h.told[why] {
			h.log.Error("redis is still away, now for another reason", zap.Error(err), zap.String("what to do", why))
			h.told[why] = true
		}
		h.hold(now, min(max(firstPause, now.Sub(h.away)/patience), longPause))
	}
}

// spoils are words of errors that come from what is kept in Redis, not from the server.
var spoils = []string{"WRONGTYPE", "is not an integer", "is not a valid float", "not a number", "is no number", "attempt to "}

// spoilt reports whether Redis answered, and says that what is kept there cannot be worked
// on: a key of another type, or a script that met what it cannot read.
func spoilt(err error) bool {
	return err != nil && slices.ContainsFunc(spoils, func(words string) bool { return strings.Contains(err.Error(), words) })
}

// hold lets nobody ask for a while. h.mu is held.
func (h *health) hold(now time.Time, d time.Duration) {
	d = jittered(d)
	h.next = now.Add(d)
	if h.again != nil {
		time.AfterFunc(d, h.again)
	}
}

func jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + rand.Float64()/4))
}

// remedies say what an operator can do about an error of Redis, by a mark in its text; the
// first that fits counts.
var remedies = []struct{ mark, advice string }{
	{"WRONGPASS", "correct redis.username and redis.password_file"},
	{"NOAUTH", "set redis.password_file: this server asks for a password"},
	{"The user executing the script can't", "give this user the commands and keys its scripts need (ACL): `proxyward doctor` names them"},
	{"ACL failure in script", "give this user the commands and keys its scripts need (ACL): `proxyward doctor` names them"},
	{"NOPERM", "give this user the commands and keys it needs (ACL)"},
	{"READONLY", "this server is a replica: name the master"},
	{"BUSY", "somebody's script holds redis up: SCRIPT KILL ends it, if it wrote nothing"},
	{"MISCONF", "redis cannot save to disk: look at its log"},
	{"OOM", "redis is at maxmemory: give it more"},
	{"no such host", "correct the host name in redis.url"},
	{"x509", "set redis.tls.ca_file to the CA that signed the server's certificate"},
	{"refused", "start redis, or correct redis.url"},
}

func remedy(err error) string {
	for _, r := range remedies {
		if strings.Contains(err.Error(), r.mark) {
			return r.advice
		}
	}
	return "see whether redis runs and is reachable from here"
}
