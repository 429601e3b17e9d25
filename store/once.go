package store

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// once sends a script at most once: when the reply is lost nobody knows whether it ran, and
// a second run would apply it twice. The client's own retries are off, but a cluster client
// also sends again, as a redirect, what broke off on the way.
type once struct{ redis.UniversalClient }

// single is a command that no client sends again.
type single struct{ *redis.Cmd }

// NoRetry tells the client so.
func (single) NoRetry() bool { return true }

// EvalSha runs a script that the server knows.
func (o once) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return o.send(ctx, "evalsha", sha, keys, args)
}

// Eval runs a script and makes the server know it.
func (o once) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return o.send(ctx, "eval", script, keys, args)
}

func (o once) send(ctx context.Context, name, script string, keys []string, args []any) *redis.Cmd {
	all := make([]any, 3, 3+len(keys)+len(args))
	all[0], all[1], all[2] = name, script, len(keys)
	for _, key := range keys {
		all = append(all, key)
	}
	cmd := redis.NewCmd(ctx, append(all, args...)...)
	o.Process(ctx, single{cmd}) // its error is in cmd
	return cmd
}

// refusals are replies that say the server did not run the script: it is sent again.
var refusals = []string{
	"TRYAGAIN",    // a slot is being moved, and its keys are on two nodes
	"CLUSTERDOWN", // a slot has no master for the moment
	"MASTERDOWN", "LOADING",
	"READONLY", // the master became a replica; the client has looked for the new one
	"ASK", "MOVED",
	"BUSY", // somebody's script holds the server up
}

const (
	refusedPause  = 50 * time.Millisecond // doubled each time
	refusedMost   = 200 * time.Millisecond
	refusedWithin = 1500 * time.Millisecond // no try begins later
)

// run runs a script. It is sent again only where it did not run: the server says so, for
// want of the script or by one of the refusals, or there was no connection to send it on.
func (p *Pool) run(ctx context.Context, s *redis.Script, keys []string, args []any) (cmd *redis.Cmd) {
	if p.watch != nil {
		defer func(began time.Time) { p.watch(called[s], time.Since(began), kindOf(cmd.Err())) }(time.Now())
	}
	p.again(ctx, func() error {
		cmd = s.Run(ctx, once{p.client}, keys, args...)
		return cmd.Err()
	})
	return cmd
}

// kindOf names an error of Redis in a word: its own, or what the network did; empty where
// there is none.
func kindOf(err error) string {
	var network net.Error
	switch {
	case err == nil, errors.Is(err, redis.Nil), errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &network), errors.Is(err, io.EOF):
		return "network"
	}
	word, _, _ := strings.Cut(err.Error(), " ")
	if word == "" || strings.ToUpper(word) != word {
		return "other"
	}
	return word
}

// again tries until the server no longer refuses, and returns the last error.
func (p *Pool) again(ctx context.Context, try func() error) error {
	began := time.Now()
	for wait := refusedPause; ; wait = min(2*wait, refusedMost) {
		err := try()
		p.reload(ctx, err)
		if time.Since(began)+wait > refusedWithin || !refused(err) && !unsent(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

func refused(err error) bool {
	if err == nil {
		return false
	}
	for _, word := range refusals {
		if redis.HasErrorPrefix(err, word) || strings.HasPrefix(err.Error(), word+" ") {
			return true
		}
	}
	return false
}

// unsent reports whether there was no connection to send the script on: the server is
// away, or another one has its place and the client is about to learn which.
func unsent(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// reload makes a cluster client look who has the slots now: by itself it does so once a
// minute, and a connection that breaks tells it nothing.
func (p *Pool) reload(ctx context.Context, err error) {
	cluster, is := p.client.(*redis.ClusterClient)
	var network net.Error
	if is && err != nil && (errors.As(err, &network) || refused(err)) {
		cluster.ReloadState(ctx)
	}
}
