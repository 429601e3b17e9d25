package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrEmpty says that no proxy was free for as long as the worker waits.
var ErrEmpty = errors.New("no proxy is free")

// Config says how a worker uses a pool.
type Config struct {
	Check  string        // its name in proxyward's configuration
	Prefix string        // of all keys; empty: proxyward
	Worker string        // its name in reports; empty: host and process
	Wait   time.Duration // how long to wait while no proxy is free; 0: 30 s

	// JobLimit is when a job counts as abandoned, for checks with `jobs: true`: longer than any
	// request takes. 0: live jobs are not counted.
	JobLimit time.Duration
	JobCap   int // live jobs a proxy has at most; 0: any number
}

// Pool is the pool of one check. Safe for concurrent use.
type Pool struct {
	client  redis.Scripter
	config  Config
	scripts map[string]*redis.Script
}

// New makes a pool on any client of go-redis: of a server, of a Cluster, of Sentinel's master.
// scripts holds the files of store/lua.
func New(client redis.Scripter, scripts fs.FS, c Config) (*Pool, error) {
	if c.Prefix == "" {
		c.Prefix = "proxyward"
	}
	if c.Wait == 0 {
		c.Wait = 30 * time.Second
	}
	if c.Worker == "" {
		host, _ := os.Hostname()
		c.Worker = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	p := &Pool{client, c, map[string]*redis.Script{}}
	for _, name := range []string{"allocate_url", "report", "acquire", "release"} {
		text, err := fs.ReadFile(scripts, name+".lua")
		if err != nil {
			return nil, fmt.Errorf("read store/lua: %w", err)
		}
		p.scripts[name] = redis.NewScript(string(text))
	}
	return p, nil
}

// Lease is a proxy in use, until Done.
type Lease struct {
	Endpoint string // its id
	url      *url.URL
	token    string
	pool     *Pool
	once     sync.Once
}

// Failure says what was wrong with a proxy, in the words of docs/verdicts.md.
type Failure struct{ Stage, Reason string }

// Take takes a proxy; nil when none is free: then make no request.
func (p *Pool) Take(ctx context.Context) (*Lease, error) {
	name, keys, args := "allocate_url", []string{"eligible", "urls"}, []any(nil)
	if p.config.JobLimit > 0 {
		name, keys = "acquire", []string{"eligible", "inflight", "jobs", "clock", "urls"}
		args = []any{p.config.JobLimit.Milliseconds(), p.config.JobCap}
	}
	reply, err := p.run(ctx, name, keys, args...).StringSlice()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("take a proxy from Redis: %w", err)
	}
	u, err := url.Parse(reply[len(reply)-1])
	if err != nil {
		return nil, fmt.Errorf("take a proxy: %s has a URL that is none", reply[0]) // err would show it
	}
	l := &Lease{Endpoint: reply[0], url: u, pool: p}
	if len(reply) == 3 {
		l.token = reply[1]
	}
	return l, nil
}

// Lease takes a proxy; while none is free it asks again, ever more rarely, until Config.Wait
// is over: ErrEmpty.
func (p *Pool) Lease(ctx context.Context) (*Lease, error) {
	over := time.After(p.config.Wait)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		if l, err := p.Take(ctx); l != nil || err != nil {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-over:
			return nil, fmt.Errorf("%w in %s for %v", ErrEmpty, p.key("eligible"), p.config.Wait)
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
	}
}

// Done ends the use, once; f is nil where the proxy did its work. A report that is lost is not
// worth a retry, and a job that is not released ends by its limit: so there is no error.
func (l *Lease) Done(f *Failure) {
	l.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		outcome := "failed"
		if f == nil {
			f, outcome = &Failure{}, ""
		}
		worker := l.pool.config.Worker
		switch {
		case l.token != "":
			l.pool.run(ctx, "release", []string{"inflight", "jobs", "engaged", "reports"}, l.token, outcome, f.Stage, f.Reason, worker)
		case outcome != "":
			l.pool.run(ctx, "report", []string{"reports"}, l.Endpoint, outcome, f.Stage, f.Reason, worker, time.Now().UnixMilli())
		}
	})
}

// run calls a script by its digest, and with its text where the server does not know it yet.
func (p *Pool) run(ctx context.Context, name string, keys []string, args ...any) *redis.Cmd {
	full := make([]string, len(keys))
	for i, k := range keys {
		full[i] = p.key(k)
	}
	return p.scripts[name].Run(ctx, p.client, full, args...)
}

func (p *Pool) key(part string) string { return p.config.Prefix + ":{" + p.config.Check + "}:" + part }
