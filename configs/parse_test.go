package configs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"proxyward/scheduler"
)

func parse(t *testing.T, source string) *Config {
	t.Helper()
	c, err := Parse("test.yaml", []byte(source), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const least = `
checks:
  - name: a
    request: {url: "https://shop.example/"}
`

func TestDefaults(t *testing.T) {
	c := parse(t, least)
	if c.Redis.URL != "redis://127.0.0.1:6379/0" || c.Redis.Prefix != "proxyward" || c.Scheduler.Tick != time.Second ||
		c.Prober.Concurrency != 512 || c.Admin.Listen != "127.0.0.1:9180" || c.Log != (Log{"info", "json"}) {
		t.Errorf("defaults of the file: %+v", c)
	}
	k := c.Checks[0]
	if k.Policy.Rise != 1 || k.Policy.Fall != 1 || k.Policy.Confirm != 10*time.Second || k.Policy.Recheck != 5*time.Minute {
		t.Errorf("policy: %+v", k.Policy)
	}
	if r := k.Policy.Cooldown; r.Base != 30*time.Second || r.Factor != 2 || r.Max != 30*time.Minute || r.Jitter == nil || *r.Jitter != 0.2 {
		t.Errorf("cooldown: %+v", r)
	}
	if k.Trickle != (scheduler.Trickle{PerTick: 5, MaxPerTick: 200, Window: time.Second}) ||
		k.Limits != (scheduler.Limits{Rate: 200, Concurrency: 256, PerHost: 16}) ||
		k.Scores != (scheduler.Scores{Initial: -1, Keep: true}) ||
		k.Missing != (scheduler.Missing{MaxShrink: 0.5, ForgetAfter: 30 * 24 * time.Hour}) {
		t.Errorf("defaults of a check: %+v", k)
	}
	if k.Transaction == nil || k.Timeout != 15*time.Second || k.Transaction.Timeout() != 15*time.Second {
		t.Errorf("transaction %v, timeout %s", k.Transaction, k.Timeout)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings about what nobody wrote: %q", c.Warnings)
	}
}

func TestValues(t *testing.T) {
	c := parse(t, `
redis:
  url: rediss://cache.example:6380/3
  username: ${env:REDIS_USER}
  password_file: redis-password
checks:
  - name: a
    request:
      url: https://shop.example/
      timeout: 3s
      tls: {min_version: 1.3}
      headers: {Authorization: "Bearer ${file:/absolute/token}", X-Count: 12, X-Open: "$${env:SECRET}"}
    expect: {status: [200, 301-303]}
    endpoints: [{file: p.txt, scheme: socks5h, refresh: "*/10 * * * *"}]
    recheck: 1d12h
    rise: ${env:RISE}
    trickle: {per_tick: 500}
    limits: {rate: 90/m}
    cooldown:
      base: 2h
      jitter: 0
      reasons:
        verify.http_status: {on: keep}
        connect: {jitter: 50%, honour_retry_after: false, disable_after: 3}
    scores: {initial: 40, reentry: min}
    sources: {on_missing: keep, max_shrink: 25%, forget_after: 0}
`)
	if r := c.Redis; r.Username != "worker" || r.Password.Reveal() != "hunter2" || r.URL != "rediss://cache.example:6380/3" {
		t.Errorf("redis %+v, password %q", r, r.Password.Reveal())
	}
	k := c.Checks[0]
	if k.Timeout != 3*time.Second || k.Policy.Recheck != 36*time.Hour || k.Policy.Rise != 3 || k.Limits.Rate != 1.5 {
		t.Errorf("%+v", k)
	}
	if k.Trickle.MaxPerTick != 500 {
		t.Errorf("max_per_tick %d does not give way to per_tick 500", k.Trickle.MaxPerTick)
	}
	if k.Policy.Cooldown.Max != 2*time.Hour || *k.Policy.Cooldown.Jitter != 0 {
		t.Errorf("cooldown %+v", k.Policy.Cooldown)
	}
	r := k.Policy.Cooldown.Reasons["connect"]
	if *r.Jitter != 0.5 || *r.HonourRetryAfter || r.DisableAfter != 3 || k.Policy.Cooldown.Reasons["verify.http_status"].On != "keep" {
		t.Errorf("reasons %+v", k.Policy.Cooldown.Reasons)
	}
	if k.Scores != (scheduler.Scores{Initial: 40}) || k.Missing != (scheduler.Missing{Keep: true, MaxShrink: 0.25}) {
		t.Errorf("scores %+v, missing %+v", k.Scores, k.Missing)
	}
	if want := []scheduler.Source{{File: "p.txt", Scheme: "socks5h", Refresh: "*/10 * * * *"}}; !reflect.DeepEqual(k.Sources, want) {
		t.Errorf("sources %+v", k.Sources)
	}
}

func TestCredentialsLeaveTheRedisURL(t *testing.T) {
	c := parse(t, `redis: {url: "redis://wor%6Ber:p%40ss@127.0.0.1:6379/1"}`+least)
	if r := c.Redis; r.URL != "redis://127.0.0.1:6379/1" || r.Username != "worker" || r.Password.Reveal() != "p@ss" {
		t.Errorf("%q %q %q", r.URL, r.Username, r.Password.Reveal())
	}
}

func TestMergeKeysAndAliases(t *testing.T) {
	c := parse(t, `
checks:
  - &first
    name: a
    request: &ask {url: "https://shop.example/"}
    rise: 2
    recheck: 1m
  - {<<: *first, name: b, recheck: 2m}
  - name: c
    request: *ask
    expect: {body_contains: [x]}
`)
	if b := c.Checks[1]; b.Name != "b" || b.Policy.Rise != 2 || b.Policy.Recheck != 2*time.Minute || c.Checks[2].Transaction == nil {
		t.Errorf("%+v", c.Checks)
	}
}

func TestWarningsNameWhatWasWritten(t *testing.T) {
	c := parse(t, `redis: {url: "embedded://0.0.0.0:6399"}
admin: {listen: "unix:/run/proxyward/admin.sock"}
checks:
  - name: a
    request: {url: "https://shop.example/"}
    jobs: true
    floor: 0
    endpoints:
      - {file: p.txt}
      - {url: "https://user:hunter2@lists.example/"}
    guard: {enabled: false}
`)
	want := []string{"test.yaml:1:14: redis.url: the embedded Redis can be reached from other machines"}
	if got := strings.Join(c.Warnings, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if !c.Checks[0].Jobs {
		t.Error("jobs are not counted")
	}
	if n := len(c.Checks[0].Sources); n != 2 {
		t.Errorf("%d sources, want both", n)
	}
}

func TestDefaultNeedsNoFile(t *testing.T) {
	c, err := Default("proxies.txt", "https://shop.example/")
	if err != nil {
		t.Fatal(err)
	}
	k := c.Checks[0]
	if c.Redis.URL != DefaultRedis || k.Name != "default" || k.Transaction == nil ||
		!reflect.DeepEqual(k.Sources, []scheduler.Source{{File: "proxies.txt", Scheme: "http", Refresh: "@every 1m"}}) {
		t.Errorf("%+v", c)
	}
	_, err = Default("", "shop.example")
	if err == nil || !strings.HasPrefix(err.Error(), "--list: no list") || !strings.Contains(err.Error(), "\n--target: ") {
		t.Errorf("error %q", err)
	}
}

func TestLoadSaysWhichFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := Load(missing); err == nil || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "--config") {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("directory: %v", err)
	}
	big := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(big, []byte(strings.Repeat("# xxxxxxxxxxx\n", 1<<17)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(big); err == nil || !strings.HasPrefix(err.Error(), big+": over 1 MiB") {
		t.Errorf("big file: %v", err)
	}
}

func TestExamplesAreSound(t *testing.T) {
	for _, name := range []string{"proxyward.example.yaml", "minimal.yaml"} {
		c, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Warnings) > 0 {
			t.Errorf("%s warns: %q", name, c.Warnings)
		}
	}
}

func TestDisableAfterZeroOverrulesALessSpecificRule(t *testing.T) {
	c := parse(t, `checks:
  - name: a
    request: {url: "https://shop.example/"}
    endpoints: [{file: p.txt}]
    cooldown:
      reasons:
        proxy_auth: {disable_after: 3}
        proxy_auth.auth_rejected: {disable_after: 0, base: 1h}
`)
	rules := c.Checks[0].Policy.Cooldown.Reasons
	if rules["proxy_auth"].DisableAfter != 3 || rules["proxy_auth.auth_rejected"].DisableAfter != -1 {
		t.Errorf("%+v", rules)
	}
}
