package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

const (
	statusEvery = 5 * time.Second
	stuckAfter  = 30 * time.Second // beside two ticks; a tick that waits for a slow Redis ends sooner
)

// notifier tells systemd how the daemon does (sd_notify(3)). Without NOTIFY_SOCKET in the
// environment it says nothing.
type notifier struct {
	daemon *scheduler.Daemon
	store  *store.Store
	log    *zap.Logger
}

func (n *notifier) say(words ...string) {
	if _, err := daemon.SdNotify(false, strings.Join(words, "\n")); err != nil {
		n.log.Warn("systemd cannot be told", zap.Error(err))
	}
}

// run says READY after the first good exchange with Redis, then feeds the watchdog while
// ticks are completed and says in words what the daemon does, until ctx ends.
func (n *notifier) run(ctx context.Context) {
	n.say("STATUS=waiting for redis")
	select {
	case <-ctx.Done():
		n.say("STOPPING=1", "STATUS=stopping")
		return
	case <-n.daemon.Heard():
	}
	n.say("READY=1", n.status(ctx))
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		n.log.Warn("the watchdog's setting cannot be read", zap.Error(err))
	}
	feed := time.NewTicker(max(limit/3, 100*time.Millisecond))
	defer feed.Stop()
	tell := time.NewTicker(statusEvery)
	defer tell.Stop()
	for {
		select {
		case <-ctx.Done():
			n.say("STOPPING=1", "STATUS=stopping: probes in flight finish")
			return
		case <-feed.C:
			if limit > 0 && !(pulse{n.daemon}).Stuck() {
				n.say("WATCHDOG=1")
			}
		case <-tell.C:
			n.say(n.status(ctx))
		}
	}
}

// reloading brackets a reload, as Type=notify-reload wants it.
func (n *notifier) reloading(reload func()) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err == nil {
		n.say("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", now.Nano()/1000))
	}
	reload()
	n.say("READY=1")
}

// status is what the daemon does, in words.
func (n *notifier) status(ctx context.Context) string {
	var words []string
	for _, name := range n.daemon.Names() {
		s, err := n.store.Pool(name).Status(ctx)
		if err != nil {
			return "STATUS=redis is away: workers go on with the set as it is"
		}
		one := fmt.Sprintf("%s: %d eligible, %d cooling", name, s.States[record.Eligible], s.States[record.Cooling])
		if s.Guard.OpenMs > 0 {
			one += ", guard open"
		}
		words = append(words, one)
	}
	return "STATUS=" + strings.Join(words, "; ")
}
