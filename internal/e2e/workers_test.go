package e2e_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
)

// kit is one way of examples/ to fetch a page through a pool.
type kit struct {
	name    string
	command func(t *testing.T) []string
	env     []string
}

var kits = []kit{
	{"go", func(t *testing.T) []string {
		fetch := filepath.Join(t.TempDir(), "fetch")
		if out, err := exec.Command("go", "build", "-o", fetch, "proxyward/examples/go/fetch").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return []string{fetch}
	}, nil},
	{"requests", func(t *testing.T) []string {
		return []string{python(t, "redis", "requests", "socks"), "../../examples/python/proxyward_worker.py"}
	}, nil},
	{"httpx", func(t *testing.T) []string {
		return []string{python(t, "redis", "httpx", "socksio"), "../../examples/python/proxyward_worker.py"}
	}, []string{"HTTP=httpx"}},
	{"node", func(t *testing.T) []string { return []string{node(t), "../../examples/node/fetch.mjs"} }, nil},
	{"shell", func(t *testing.T) []string {
		testenv.Program(t, "redis-cli")
		testenv.Program(t, "curl")
		return []string{"/bin/sh", "../../examples/shell/worker.sh"}
	}, nil},
}

// python is the system's Python, which has these modules by packages of the system; whatever
// else is first on PATH may have others.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	path := testenv.Program(t, "/usr/bin/python3")
	for _, m := range modules {
		if exec.Command(path, "-c", "import "+m).Run() != nil {
			testenv.Missing(t, "python3-"+m)
		}
	}
	return path
}

// node is node, with the packages that the kit is locked to.
func node(t *testing.T) string {
	t.Helper()
	path := testenv.Program(t, "node")
	for _, m := range []string{"ioredis", "socks", "undici"} {
		if _, err := os.Stat("../../examples/node/node_modules/" + m); err != nil {
			testenv.Missing(t, m+" (npm ci in examples/node)")
		}
	}
	return path
}

const kitYAML = `
redis: {url: "REDIS", username: proxyward, password: "PASSWORD"}
checks:
  - name: c
    request: {url: "TARGET", timeout: 5s, tls: {ca_file: "CA"}}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    recheck: 1h
    jobs: true
    cooldown: {base: 1h}
    reports: {suspect_after: 2}
`

// Each kit of examples/, as the user `worker` of configs/redis-acl.conf, through squid and
// tinyproxy: nothing is asked of an empty pool, pages come through proxies with a login, each
// request is one allocation, jobs end, a timeout is one, and reports have a dead proxy out.
func TestTheKitsOfTheExamples(t *testing.T) {
	t.Parallel()
	for _, k := range kits {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			tryKit(t, k)
		})
	}
}

func tryKit(t *testing.T, k kit) {
	command := k.command(t)
	url := testenv.Redis(t, "--include", testenv.ACL(t))
	site := newTarget(t)
	squid := testenv.Squid(t, testenv.ProxyOptions{Login: true})
	tiny := testenv.Tinyproxy(t, testenv.ProxyOptions{Login: true})
	front, cut := forward(t, tiny.Addr)
	tiny.Addr = front
	client := testenv.Client(t, url)
	fetch := func(page string, n string, more ...string) outcome {
		t.Helper()
		env := append([]string{"REDIS_URL=" + testenv.As("worker", url), "CHECK=c", "PROXYWARD_LUA=../../store/lua", "WAIT=2",
			"SSL_CERT_FILE=" + site.CAFile, "REQUESTS_CA_BUNDLE=" + site.CAFile, "NODE_EXTRA_CA_CERTS=" + site.CAFile, "CURL_CA_BUNDLE=" + site.CAFile},
			append(more, k.env...)...)
		o := runWith(t, env, append(command, page, n)...)
		for _, secret := range []string{testenv.Password, testenv.PasswordOf("worker")} {
			if strings.Contains(o.out+o.err, secret) {
				t.Errorf("a password is printed: %s%s", o.out, o.err)
			}
		}
		return o
	}
	if o := fetch(site.HTTPS+"/good", "1"); o.code != 1 || !strings.Contains(o.err, "proxyward:{c}:eligible") || site.asked.Load() != 0 {
		t.Errorf("an empty pool: exit status %d, %d requests\n%s%s", o.code, site.asked.Load(), o.out, o.err)
	}
	config := yaml(t, kitYAML, "REDIS", url, "PASSWORD", testenv.PasswordOf("proxyward"), "TARGET", site.HTTPS+"/good", "CA", site.CAFile,
		"LIST", file(t, "list", squid.URL()+"\n"+tiny.URL()+"\n"))
	start(t, "--config", config)
	eligible := func(n int64) func() bool {
		return func() bool { return client.ZCard(t.Context(), "proxyward:{c}:eligible").Val() == n }
	}
	testenv.Eventually(t, 20*time.Second, "2 eligible", eligible(2))
	testenv.Eventually(t, 20*time.Second, "jobs are counted", func() bool {
		return client.ZCard(t.Context(), "proxyward:{c}:inflight").Val() == 2
	})
	for _, job := range [][]string{nil, {"JOB_LIMIT=60", "JOB_CAP=1"}} {
		for _, page := range []string{site.HTTPS + "/good", site.HTTP + "/good"} {
			if o := fetch(page, "4", job...); o.code != 0 || through(o, "200 ", squid.ID()) != 2 || through(o, "200 ", tiny.ID()) != 2 {
				t.Errorf("%s %v: exit status %d\n%s%s", page, job, o.code, o.out, o.err)
			}
		}
	}
	for _, z := range client.ZRangeWithScores(t.Context(), "proxyward:{c}:eligible", 0, -1).Val() {
		if z.Score != 8 {
			t.Errorf("%v has %v allocations of 16", z.Member, z.Score)
		}
	}
	noJobs := func() {
		t.Helper()
		if n := client.ZCard(t.Context(), "proxyward:{c}:jobs").Val(); n != 0 {
			t.Errorf("%d jobs are left", n)
		}
	}
	noJobs()
	client.Do(t.Context(), "SCRIPT", "FLUSH")
	cut()
	o := fetch(site.HTTPS+"/good", "2", "JOB_LIMIT=60", "JOB_CAP=1")
	if o.code != 1 || through(o, "200 ", squid.ID()) != 1 || through(o, "", tiny.ID()) != 1 {
		t.Errorf("with one dead proxy: exit status %d\n%s%s", o.code, o.out, o.err)
	}
	if o := fetch(site.HTTP+"/good", "2"); o.code != 1 {
		t.Errorf("with one dead proxy: exit status %d\n%s%s", o.code, o.out, o.err)
	}
	noJobs()
	testenv.Eventually(t, 20*time.Second, "the dead proxy is out by reports", eligible(1))
	if told := client.HGetAll(t.Context(), "proxyward:{c}:meta").Val(); told["reports:applied"] != "2" || told["reports:malformed"] != "" {
		t.Errorf("reports: %v", told)
	}
	if r := explain(t, config, tiny.ID()).Record; r.Stage != "connect" || r.Reason != "refused" {
		t.Errorf("it is out by %s.%s", r.Stage, r.Reason)
	}
	ok(t, "fsck", "--config", config)
}

// through is how many of a worker's requests went through an endpoint and ended with what begins so.
func through(o outcome, begin, endpoint string) (n int) {
	for _, l := range lines(o.out) {
		if strings.HasPrefix(l, begin) && strings.HasSuffix(l, " through "+endpoint) {
			n++
		}
	}
	return n
}

// A worker whose Redis is away says so, without a password and without a word of a proxy; one
// that has no scripts says where they are to be.
func TestTheKitsSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, k := range kits {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			command := append(k.command(t), "http://target.example/", "1")
			env := append([]string{"REDIS_URL=redis://worker:" + testenv.Password + "@" + testenv.Nobody(t) + "/0", "PROXYWARD_LUA=../../store/lua"}, k.env...)
			o := runWith(t, env, command...)
			if o.code != 1 || !strings.Contains(o.out+o.err, "Redis") || strings.Contains(o.out+o.err, testenv.Password) || strings.Contains(o.out, "through") {
				t.Errorf("without Redis: exit status %d\n%s%s", o.code, o.out, o.err)
			}
			o = runWith(t, append(env, "PROXYWARD_LUA="+t.TempDir()), command...)
			if o.code != 1 || !strings.Contains(o.err, "PROXYWARD_LUA") || !strings.Contains(o.err, "store/lua") {
				t.Errorf("without scripts: exit status %d\n%s%s", o.code, o.out, o.err)
			}
		})
	}
}

// forward listens on loopback and leads to an address, until cut.
func forward(t *testing.T, to string) (addr string, cut func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			pass := func(a, b net.Conn) { io.Copy(a, b); a.Close(); b.Close() }
			go pass(in, out)
			go pass(out, in)
		}
	}()
	return l.Addr().String(), func() { l.Close() }
}

// A target that never answers costs a worker its own time limit, and no more; the job ends.
func TestTheKitsTimeOut(t *testing.T) {
	t.Parallel()
	for _, k := range kits {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			command := k.command(t)
			url := testenv.Redis(t)
			client := testenv.Client(t, url)
			var asked atomic.Int64
			release := make(chan struct{})
			silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}))
			t.Cleanup(func() { close(release); silent.Close() })
			client.ZAdd(t.Context(), "proxyward:{c}:eligible", redis.Z{Member: silent.URL})
			client.ZAdd(t.Context(), "proxyward:{c}:inflight", redis.Z{Member: silent.URL})
			began := time.Now()
			o := runFor(t, 90*time.Second, append([]string{"REDIS_URL=" + url, "CHECK=c", "PROXYWARD_LUA=../../store/lua", "JOB_LIMIT=60"}, k.env...),
				append(command, "http://target.example/", "1")...)
			if took := time.Since(began); o.code != 1 || took > 80*time.Second || asked.Load() != 1 {
				t.Errorf("exit status %d after %v, asked %d times\n%s%s", o.code, took, asked.Load(), o.out, o.err)
			}
			if n := client.ZCard(t.Context(), "proxyward:{c}:jobs").Val(); n != 0 {
				t.Errorf("%d jobs are left", n)
			}
			for _, e := range client.XRange(t.Context(), "proxyward:{c}:reports", "-", "+").Val() {
				if e.Values["reason"] == "timeout" && e.Values["stage"] == "headers" {
					return
				}
			}
			t.Error("no report says headers.timeout")
		})
	}
}

// runWith is run with more in the environment.
func runWith(t *testing.T, env []string, command ...string) outcome {
	t.Helper()
	return runFor(t, 40*time.Second, env, command...)
}

// runFor is runWith for a time.
func runFor(t *testing.T, most time.Duration, env []string, command ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	var out, err bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &err
	cmd.Run()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		t.Errorf("%s: %v\n%s%s", strings.Join(command, " "), ctx.Err(), out.String(), err.String())
		return outcome{code: -1}
	}
	return outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), err: err.String()}
}
