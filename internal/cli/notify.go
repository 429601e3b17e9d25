package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

const (
	statusEvery  = 5 * time.Second
	statusWithin = 2 * time.Second
	statusNames  = 8                // checks that the status names; of more it says how many
	stuckAfter   = 30 * time.Second // beside two ticks; a tick that waits for a slow Redis ends sooner
)

// notifier tells systemd how the daemon does (sd_notify(3)). Without NOTIFY_SOCKET in the
// environment it says nothing.
type notifier struct {
	daemon *scheduler.Daemon
	store  *store.Store
	log    *zap.Logger
	stuck  func() bool          // no tick was completed for far too long
	drain  func() time.Duration // how long a stop may take

	ready   atomic.Bool   // systemd was told so
	refused atomic.Bool   // the configuration in the file is a bad one
	again   chan struct{} // the status has changed
}

func newNotifier(d *scheduler.Daemon, st *store.Store, log *zap.Logger, drain func() time.Duration) *notifier {
	return &notifier{daemon: d, store: st, log: log, stuck: pulse{d}.Stuck, drain: drain, again: make(chan struct{}, 1)}
}

func (n *notifier) say(words ...string) {
	if _, err := daemon.SdNotify(false, strings.Join(words, "\n")); err != nil {
		n.log.Warn("systemd cannot be told", zap.Error(err))
	}
}

// run says READY after the first good exchange with Redis, then says in words what the daemon
// does and feeds the watchdog while ticks are completed: until stop ends, and while it drains
// until over is closed.
func (n *notifier) run(stop context.Context, over <-chan struct{}) {
	n.say("STATUS=waiting for redis")
	select {
	case <-stop.Done():
	case <-n.daemon.Heard():
		n.ready.Store(true)
		n.say("READY=1", "STATUS=redis answers")
	}
	var telling sync.WaitGroup
	telling.Go(func() { n.tell(stop) }) // on its own: a slow Redis must not starve the watchdog
	n.feed(stop.Done(), over)
	telling.Wait()
}

// feed keeps the watchdog quiet while the scheduler works.
func (n *notifier) feed(stopping, over <-chan struct{}) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		n.log.Warn("the watchdog's setting cannot be read", zap.Error(err))
	}
	feed := time.NewTicker(max(limit/3, 100*time.Millisecond))
	defer feed.Stop()
	for {
		select {
		case <-over:
			return
		case <-stopping:
			stopping = nil
			n.say("STOPPING=1", "STATUS=stopping: probes in flight finish", fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", n.drain().Microseconds()))
		case <-feed.C:
			if limit > 0 && !n.stuck() {
				n.say("WATCHDOG=1")
			}
		}
	}
}

// tell says the status now and then.
func (n *notifier) tell(stop context.Context) {
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	for {
		if status := n.status(stop); stop.Err() == nil {
			n.say("STATUS=" + status)
		}
		select {
		case <-stop.Done():
			return
		case <-tick.C:
		case <-n.again:
		}
	}
}

// reloading brackets a reload, as Type=notify-reload wants it. Before the daemon is ready
// systemd hears nothing of it: to say READY would be a lie.
func (n *notifier) reloading(reload func() (taken bool)) {
	ready := n.ready.Load()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err == nil && ready {
		n.say("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", now.Nano()/1000))
	}
	n.refused.Store(!reload())
	if ready {
		n.say("READY=1")
	}
	select {
	case n.again <- struct{}{}:
	default:
	}
}

// status is what the daemon does, in words.
func (n *notifier) status(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	var words []string
	if n.refused.Load() {
		words = append(words, "the new configuration is refused, the old one stays")
	}
	names := n.daemon.Names()
	for i, name := range names {
		if i == statusNames {
			words = append(words, fmt.Sprintf("and %d more checks", len(names)-i))
			break
		}
		s, err := n.store.Pool(name).Status(ctx)
		if err != nil {
			words = append(words, "redis is away: workers go on with the set as it is")
			break
		}
		one := fmt.Sprintf("%s: %d eligible, %d cooling", name, s.States[record.Eligible], s.States[record.Cooling])
		if s.Guard.OpenMs > 0 {
			one += ", guard open"
		}
		if n.daemon.StandsBy(name) {
			one += ", standing by: another daemon's configuration counts"
		}
		words = append(words, one)
	}
	return strings.Join(words, "; ")
}
