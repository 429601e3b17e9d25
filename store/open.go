package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"proxyward/internal/files"
)

// callTimeout bounds one round trip to Redis.
const callTimeout = 3 * time.Second

// Address says which Redis to use and as whom: one server by URL, the nodes of a Cluster,
// or a master that sentinels watch.
type Address struct {
	URL      string   // redis:// rediss:// unix://; may carry user and password
	Cluster  []string // host:port of some nodes
	Sentinel Sentinel
	TLS      bool   // to Cluster and Sentinel; a URL says so itself
	Username string // wins over the URL's
	Password string // wins over the URL's; a secret
	CAFile   string // PEM, for TLS; empty: the system's roots
	Prefix   string // of every key; empty: proxyward
}

// Sentinel names a master and those who watch it; the zero value is none.
type Sentinel struct {
	Master    string
	Addresses []string // host:port of the sentinels
	Username  string   // of the sentinels themselves
	Password  string   // of the sentinels themselves; a secret
}

// Store is one Redis with the pools of all checks in it. Safe for concurrent use.
type Store struct {
	client redis.UniversalClient
	prefix string

	user     string // as whom it speaks; empty: the default user
	sentinel Sentinel
	tls      *tls.Config // nil: none
	watch    func(script string, took time.Duration, kind string)
}

// Watch has f told of every script that pools made from now on run: which, how long Redis
// took, tries included, and the kind of its error, empty where there was none.
func (s *Store) Watch(f func(script string, took time.Duration, kind string)) { s.watch = f }

// Open prepares a client; it does not connect. Errors never contain the password. The
// client's own retries are off: a lost reply would apply a mutation twice.
func Open(a Address) (*Store, error) {
	if strings.ContainsAny(a.Prefix, "{}") {
		return nil, errors.New("open redis: the prefix has braces: they belong to the check's name")
	}
	options, err := a.options()
	if err != nil {
		return nil, err
	}
	redis.SetLogger(silence{})
	s := New(redis.NewUniversalClient(options), a.Prefix)
	s.user, s.sentinel, s.tls = options.Username, a.Sentinel, options.TLSConfig
	return s, nil
}

// silence keeps the client library from writing on standard error: what it would say
// comes back as errors, and is told once.
type silence struct{}

// Printf says nothing.
func (silence) Printf(context.Context, string, ...any) {}

func (a Address) options() (*redis.UniversalOptions, error) {
	o := &redis.UniversalOptions{Addrs: a.Cluster, IsClusterMode: len(a.Cluster) > 0}
	secure := a.TLS
	switch {
	case len(a.Cluster) > 0:
	case a.Sentinel.Master != "":
		o.MasterName, o.Addrs = a.Sentinel.Master, a.Sentinel.Addresses
		o.SentinelUsername, o.SentinelPassword = a.Sentinel.Username, a.Sentinel.Password
	default:
		one, err := redis.ParseURL(a.URL)
		if err != nil {
			return nil, errors.New("open redis: bad URL: write redis://HOST:PORT/DB, rediss://… or unix:///PATH?db=N")
		}
		o.Addrs, o.DB, o.Username, o.Password = []string{one.Addr}, one.DB, one.Username, one.Password
		secure = one.TLSConfig != nil
		if network := one.Network; network == "unix" {
			o.Dialer = func(ctx context.Context, _, addr string) (net.Conn, error) {
				return (&net.Dialer{Timeout: callTimeout}).DialContext(ctx, network, addr)
			}
		}
	}
	if a.Username != "" {
		o.Username = a.Username
	}
	if a.Password != "" {
		o.Password = a.Password
	}
	if err := a.secure(o, secure); err != nil {
		return nil, err
	}
	o.MaxRetries, o.DialerRetries = -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = callTimeout, callTimeout, callTimeout
	o.ContextTimeoutEnabled = true
	o.ClientName, o.DisableIdentity = "proxyward", true // CLIENT SETINFO would be one more command to allow
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return o, nil
}

func (a Address) secure(o *redis.UniversalOptions, secure bool) (err error) {
	if !secure {
		if a.CAFile != "" {
			return errors.New("open redis: a CA file needs a rediss:// URL, or TLS")
		}
		return nil
	}
	o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12} // the client fills in each server's name
	if a.CAFile != "" {
		o.TLSConfig.RootCAs, err = readRoots(a.CAFile)
	}
	return err
}

// maxCA is how large a CA file may be, in bytes.
const maxCA = 1 << 20

func readRoots(file string) (*x509.CertPool, error) {
	pem, err := files.Read(file, maxCA)
	if err != nil {
		return nil, fmt.Errorf("open redis: read CA file: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("open redis: CA file %s holds no PEM certificate", file)
	}
	return roots, nil
}

// New makes a store on a client that is already set up; retries of the client must be
// off. An empty prefix is proxyward.
func New(client redis.UniversalClient, prefix string) *Store {
	if prefix == "" {
		prefix = "proxyward"
	}
	return &Store{client: client, prefix: prefix}
}

// Close ends all connections.
func (s *Store) Close() error { return s.client.Close() }

// Ping asks whether Redis answers this user.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("reach redis: %w", err)
	}
	return nil
}

// Pool is the pool of one check.
func (s *Store) Pool(check string) *Pool {
	return &Pool{client: s.client, check: check, keys: keysOf(s.prefix, check), watch: s.watch}
}

// Checks names every check that has a pool here, sorted.
func (s *Store) Checks(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	names := []string{}
	scan := func(ctx context.Context, node redis.Cmdable) error {
		found, err := s.scanChecks(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		names = append(names, found...)
		return err
	}
	var err error
	if cluster, is := s.client.(*redis.ClusterClient); is {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return scan(ctx, node) })
	} else {
		err = scan(ctx, s.client)
	}
	if err != nil {
		return nil, fmt.Errorf("list checks: %w", err)
	}
	slices.Sort(names)
	return slices.Compact(names), nil // a scan can meet a key twice
}

func (s *Store) scanChecks(ctx context.Context, node redis.Cmdable) (names []string, err error) {
	head, tail := s.prefix+":{", "}:endpoints"
	it := node.Scan(ctx, 0, globEscape(head)+"*"+tail, 1000).Iterator()
	for it.Next(ctx) {
		name := strings.TrimSuffix(strings.TrimPrefix(it.Val(), head), tail)
		if !strings.ContainsAny(name, "{}") {
			names = append(names, name)
		}
	}
	return names, it.Err()
}

func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
