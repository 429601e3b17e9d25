package embedded_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/embedded"
)

func TestAddresses(t *testing.T) {
	for raw, want := range map[string]string{
		"embedded://": "127.0.0.1:6399", "embedded://:0": "127.0.0.1:0", "embedded://:7000": "127.0.0.1:7000",
		"embedded://127.0.0.1:7000": "127.0.0.1:7000", "EMBEDDED://[::1]:7000/0": "[::1]:7000", "embedded://0.0.0.0:7000/": "0.0.0.0:7000",
	} {
		if got, err := embedded.Address(raw); err != nil || got != want {
			t.Errorf("Address(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{"", "redis://127.0.0.1:1", "embedded://host", "embedded://h:x", "embedded://h:99999", "embedded://h:1/2", "embedded://h:1?x=y", "embedded://h:-1", "embedded://h:01"} {
		if got, err := embedded.Address(raw); err == nil {
			t.Errorf("Address(%q) = %q, want an error", raw, got)
		}
	}
}

func TestClientsFindItOnlyAtAFixedPort(t *testing.T) {
	if url, known, err := embedded.ClientURL("embedded://"); url != embedded.DefaultURL || !known || err != nil {
		t.Errorf("default: %s %v %v", url, known, err)
	}
	if _, known, err := embedded.ClientURL("embedded://:0"); known || err != nil {
		t.Errorf("port 0: known %v, %v", known, err)
	}
}

func client(t *testing.T, s *embedded.Server, password string) *redis.Client {
	options, err := redis.ParseURL(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	options.Password = password
	c := redis.NewClient(options)
	t.Cleanup(func() { c.Close() })
	return c
}

func start(t *testing.T, login embedded.Login) *embedded.Server {
	s, err := embedded.Start("embedded://:0", login)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestClientsReachItWithTheRealTime(t *testing.T) {
	s, ctx := start(t, embedded.Login{}), context.Background()
	if !s.Loopback() {
		t.Errorf("%s can be reached from other machines", s.Addr())
	}
	c := client(t, s, "")
	now, err := c.Time(ctx).Result()
	if err != nil || time.Since(now).Abs() > time.Minute {
		t.Errorf("its time is %v, %v", now, err)
	}
	c.Set(ctx, "key", "value", 30*time.Millisecond)
	for until := time.Now().Add(5 * time.Second); c.Exists(ctx, "key").Val() != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("a key outlives its time")
		}
	}
}

func TestAPasswordIsAskedFor(t *testing.T) {
	s, ctx := start(t, embedded.Login{Password: "secret-1"}), context.Background()
	if err := client(t, s, "").Ping(ctx).Err(); err == nil {
		t.Error("let in without the password")
	}
	if err := client(t, s, "secret-1").Ping(ctx).Err(); err != nil {
		t.Errorf("refused with the password: %v", err)
	}
}

func TestATakenAddressIsToldWithItsMend(t *testing.T) {
	s := start(t, embedded.Login{})
	_, err := embedded.Start("embedded://"+s.Addr(), embedded.Login{})
	if err == nil || !strings.Contains(err.Error(), s.Addr()+": the address is in use: ") || !strings.Contains(err.Error(), "embedded://127.0.0.1:PORT") {
		t.Errorf("error %v", err)
	}
}
