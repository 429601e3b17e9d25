package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// callTimeout bounds one round trip to Redis.
const callTimeout = 3 * time.Second

// Address says which Redis to use and as whom.
type Address struct {
	URL      string // redis:// rediss:// unix://; may carry user and password
	Username string // wins over the URL's
	Password string // wins over the URL's; a secret
	CAFile   string // PEM, for rediss; empty: the system's roots
	Prefix   string // of every key; empty: proxyward
}

// Store is one Redis with the pools of all checks in it. Safe for concurrent use.
type Store struct {
	client redis.UniversalClient
	prefix string
}

// Open prepares a client; it does not connect. Errors never contain the password. The
// client's own retries are off: a lost reply would apply a mutation twice.
func Open(a Address) (*Store, error) {
	if strings.ContainsAny(a.Prefix, "{}") {
		return nil, errors.New("open redis: the prefix has braces: they belong to the check's name")
	}
	options, err := redis.ParseURL(a.URL)
	if err != nil {
		return nil, errors.New("open redis: bad URL: write redis://HOST:PORT/DB, rediss://… or unix:///PATH?db=N")
	}
	if a.Username != "" {
		options.Username = a.Username
	}
	if a.Password != "" {
		options.Password = a.Password
	}
	if a.CAFile != "" {
		if options.TLSConfig == nil {
			return nil, errors.New("open redis: a CA file needs a rediss:// URL")
		}
		if options.TLSConfig.RootCAs, err = readRoots(a.CAFile); err != nil {
			return nil, err
		}
	}
	if options.TLSConfig != nil {
		options.TLSConfig.MinVersion = tls.VersionTLS12
	}
	options.MaxRetries = -1
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = callTimeout, callTimeout, callTimeout
	options.DialerRetries = 1
	options.ContextTimeoutEnabled = true
	options.ClientName = "proxyward"
	return New(redis.NewClient(options), a.Prefix), nil
}

func readRoots(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
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
	return &Pool{client: s.client, check: check, keys: keysOf(s.prefix, check)}
}

// Checks names every check that has a pool here, sorted.
func (s *Store) Checks(ctx context.Context) ([]string, error) {
	names := []string{}
	head, tail := s.prefix+":{", "}:endpoints"
	it := s.client.Scan(ctx, 0, globEscape(head)+"*"+tail, 1000).Iterator()
	for it.Next(ctx) {
		name := strings.TrimSuffix(strings.TrimPrefix(it.Val(), head), tail)
		if !strings.ContainsAny(name, "{}") {
			names = append(names, name)
		}
	}
	if err := it.Err(); err != nil {
		return nil, fmt.Errorf("list checks: %w", err)
	}
	slices.Sort(names)
	return slices.Compact(names), nil // a scan can meet a key twice
}

func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
