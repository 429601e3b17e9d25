package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/internal/zoo"
)

const waysYAML = `
redis: SERVER
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 3s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
`

func TestEveryWayToRedis(t *testing.T) {
	t.Parallel()
	acl := []string{"--user", "default", "off", "--user", "ward", "on", ">s3cret:/@", "~*", "&*", "+@all"}
	for name, setup := range map[string]func(t *testing.T) string{ // → the YAML of redis:
		"unix socket": func(t *testing.T) string {
			socket := filepath.Join(t.TempDir(), "redis.sock")
			testenv.Redis(t, "--unixsocket", socket)
			return fmt.Sprintf(`{url: "unix://%s?db=2"}`, socket)
		},
		"TLS with a CA of its own": func(t *testing.T) string {
			host, port := testenv.Address(t)
			dir, ca := t.TempDir(), zoo.NewCA(t, "redis CA")
			pair := filepath.Join(dir, "pair.pem")
			if err := os.WriteFile(pair, []byte(ca.KeyPair(t, host)), 0o600); err != nil {
				t.Fatal(err)
			}
			testenv.Redis(t, "--bind", host, "127.0.0.1", "--tls-port", fmt.Sprint(port), "--tls-cert-file", pair, "--tls-key-file", pair,
				"--tls-auth-clients", "no")
			testenv.WaitTCP(t, fmt.Sprintf("%s:%d", host, port))
			return fmt.Sprintf(`{url: "rediss://%s:%d/0", tls: {ca_file: "%s"}}`, host, port, ca.File(t, dir))
		},
		"user and password from a file": func(t *testing.T) string {
			return fmt.Sprintf(`{url: "%s", username: ward, password_file: "%s"}`, testenv.Redis(t, acl...), file(t, "password", "s3cret:/@\n"))
		},
		"user and password in the URL": func(t *testing.T) string {
			return fmt.Sprintf(`{url: "%s"}`, strings.Replace(testenv.Redis(t, acl...), "//", "//ward:s3cret%3A%2F%40@", 1))
		},
		"password by reference": func(t *testing.T) string {
			return fmt.Sprintf(`{url: "%s", username: ward, password: "${file:%s}"}`, testenv.Redis(t, acl...), file(t, "password", "s3cret:/@"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			farm := testenv.NewFarm(t, 2)
			config := yaml(t, waysYAML, "SERVER", setup(t), "LIST", file(t, "list", farm.ID(0)+"\n"+farm.ID(1)+"\n"))
			start(t, "--config", config)
			testenv.Eventually(t, 10*time.Second, "both eligible", func() bool {
				return len(lines(ok(t, "endpoints", "--config", config, "--state", "eligible", "--json"))) == 2
			})
			if got := ok(t, "allocate", "--config", config); got != farm.ID(0)+"\n" {
				t.Errorf("allocated %q", got)
			}
			ok(t, "fsck", "--config", config)
		})
	}
}

func TestTLSToRedisIsVerified(t *testing.T) {
	t.Parallel()
	host, port := testenv.Address(t)
	dir, ca := t.TempDir(), zoo.NewCA(t, "redis CA")
	pair := filepath.Join(dir, "pair.pem")
	if err := os.WriteFile(pair, []byte(ca.KeyPair(t, host)), 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.Redis(t, "--bind", host, "127.0.0.1", "--tls-port", fmt.Sprint(port), "--tls-cert-file", pair, "--tls-key-file", pair, "--tls-auth-clients", "no")
	testenv.WaitTCP(t, fmt.Sprintf("%s:%d", host, port))
	for name, extra := range map[string]string{
		"no CA named":  "",
		"another's CA": fmt.Sprintf(`, tls: {ca_file: "%s"}`, zoo.NewCA(t, "other CA").File(t, t.TempDir())),
	} {
		config := yaml(t, waysYAML, "SERVER", fmt.Sprintf(`{url: "rediss://%s:%d/0"%s}`, host, port, extra), "LIST", file(t, "list", "192.0.2.1:80\n"))
		if o := proxyward(t, "status", "--config", config); o.code != 2 || !strings.Contains(o.err, "certificate") {
			t.Errorf("%s: exit status %d, %q, %q", name, o.code, o.out, o.err)
		}
	}
}

func TestTheEmbeddedRedisServesWorkersAtThePrintedAddress(t *testing.T) {
	t.Parallel()
	farm := testenv.NewFarm(t, 2)
	d := start(t, "--list", file(t, "list", farm.ID(0)+"\n"+farm.ID(1)+"\n"), "--target", "http://target.example/", "--redis", "embedded://127.0.0.1:0")
	var addr string
	testenv.Eventually(t, 10*time.Second, "the address is printed", func() bool {
		found := regexp.MustCompile(`embedded Redis at (127\.0\.0\.1:\d+): nothing is kept`).FindStringSubmatch(d.out.String())
		if found != nil {
			addr = found[1]
		}
		return found != nil
	})
	worker := redis.NewClient(&redis.Options{Addr: addr})
	defer worker.Close()
	script, err := os.ReadFile("../../store/lua/allocate.lua")
	if err != nil {
		t.Fatal(err)
	}
	take := func() string {
		got, _ := worker.Eval(t.Context(), string(script), []string{"proxyward:{default}:eligible"}).Text()
		return got
	}
	testenv.Eventually(t, 10*time.Second, "both eligible", func() bool {
		return worker.ZCard(t.Context(), "proxyward:{default}:eligible").Val() == 2
	})
	if first, second, third := take(), take(), take(); first == second || first != third {
		t.Errorf("allocated %s, %s, %s", first, second, third)
	}
	url := "redis://" + addr + "/0"
	if got := redisCLI(t, "-u", url, "--eval", "../../store/lua/allocate.lua", "proxyward:{default}:eligible"); !strings.HasPrefix(got, "http://127.77.") {
		t.Errorf("redis-cli allocated %q", got)
	}
	if got := ok(t, "allocate", "--redis", url); !strings.HasPrefix(got, "http://127.77.") {
		t.Errorf("allocated %q", got)
	}
	ok(t, "fsck", "--redis", url)
	d.signal(15)
	if code := d.wait(10 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
}
