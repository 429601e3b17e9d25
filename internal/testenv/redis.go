package testenv

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Redis starts a real redis-server with nothing in it and returns its URL; args are added
// to its command line.
func Redis(t testing.TB, args ...string) string {
	t.Helper()
	path := Program(t, "redis-server")
	port := Port(t)
	StartRedis(t, path, port, t.TempDir(), args...)
	return fmt.Sprintf("redis://127.0.0.1:%d/0", port)
}

// StartRedis runs the server at path on a port with its data in dir.
func StartRedis(t testing.TB, path string, port int, dir string, args ...string) {
	t.Helper()
	Start(t, path, append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
		"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction",
		"--loglevel", "warning", "--hz", "100"}, args...)...)
	WaitTCP(t, fmt.Sprintf("127.0.0.1:%d", port))
}

// Client is a plain client for looking behind the product's back.
func Client(t testing.TB, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(options)
	t.Cleanup(func() { c.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := c.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// EachRedis runs f on miniredis and on a real redis-server.
func EachRedis(t *testing.T, f func(t *testing.T, url string)) {
	t.Run("miniredis", func(t *testing.T) {
		m := miniredis.RunT(t)
		f(t, "redis://"+m.Addr()+"/0")
	})
	t.Run("redis-server", func(t *testing.T) { f(t, Redis(t)) })
}
