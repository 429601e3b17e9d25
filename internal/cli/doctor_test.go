package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/health"
	"proxyward/store/record"
)

// says runs one command to its end in this process.
func says(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &o, err: &e, getenv: func(string) string { return "" }}
	code = a.run(t.Context(), args)
	return code, o.String(), e.String()
}

func TestDoctorsExitStatusIsTheWorstItFound(t *testing.T) {
	url := testenv.Redis(t, "--appendonly", "yes")
	admin := testenv.Client(t, url)
	if code, out, err := says(t, "doctor", "--redis", url); code != 0 || err != "" || !strings.Contains(out, "\n0 will hurt, 0 warnings, ") {
		t.Errorf("%d %s\n%s", code, err, out)
	}
	admin.ConfigSet(t.Context(), "maxmemory-policy", "volatile-lru")
	if code, out, _ := says(t, "doctor", "--redis", url); code != 0 || !strings.Contains(out, "warning    eviction: maxmemory-policy is volatile-lru") {
		t.Errorf("%d\n%s", code, out)
	}
	admin.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru")
	code, out, err := says(t, "doctor", "--redis", url)
	if code != 1 || err != "" || !strings.Contains(out, "\n\nwill hurt  eviction: maxmemory-policy is allkeys-lru") || !strings.Contains(out, "→ redis-cli config set maxmemory-policy noeviction") {
		t.Errorf("%d %s\n%s", code, err, out)
	}
	var v doctorJSON
	code, out, _ = says(t, "doctor", "--redis", url, "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 1 || v.Healthy || v.Findings[0].Severity != health.Hurts {
		t.Errorf("%d %v %s", code, err, out)
	}
}

func TestAParagraphFitsItsScreen(t *testing.T) {
	var b strings.Builder
	b.WriteString("will hurt  eviction: ")
	paragraph(&b, 40, 21, "one two three four five six seven eight nine ten eleven twelve")
	want := "will hurt  eviction: one two three four\n             five six seven eight nine\n             ten eleven twelve\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}

// A viewer has no scripts and no `urls`; what shows a pool works without them.
func TestAViewerLooksWithoutPasswords(t *testing.T) {
	url := testenv.Redis(t, "--include", testenv.ACL(t))
	st, err := store.Open(store.Address{URL: testenv.As("proxyward", url)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	full := "http://joe:" + canary + "@192.0.2.1:8080"
	rec := record.Record{State: record.Candidate, Sources: []string{"file:l"}}
	if _, err := st.Pool("shop").Amend(t.Context(), []store.Change{{ID: "http://joe@192.0.2.1:8080", URL: full,
		Transition: record.Transition{To: record.Candidate, Next: rec, DueMs: 1, DelayMs: 1}}}); err != nil {
		t.Fatal(err)
	}
	as := testenv.As("viewer", url)
	for words, args := range map[string][]string{
		"shop  1 endpoint, 0 daemons":  {"status"},
		"candidate  http://joe@192.0.": {"endpoints"},
		"\"state\":\"candidate\"":      {"explain", "192.0.2.1:8080", "--json"},
	} {
		code, out, err := says(t, append(args, "--redis", as)...)
		if code != 0 || err != "" || !strings.Contains(out, words) || strings.Contains(out, canary) {
			t.Errorf("%v: %d %s%s", args, code, out, err)
		}
	}
	if log, err := testenv.Client(t, url).Do(t.Context(), "acl", "log").Slice(); err != nil || len(log) > 0 {
		t.Errorf("something was tried in vain: %v %v", log, err)
	}
	for _, args := range [][]string{{"fsck"}, {"allocate"}, {"recheck", "--all"}, {"disable", "192.0.2.1:8080"}} {
		code, out, err := says(t, append(args, "--redis", as)...)
		if code != 2 || out != "" || !strings.Contains(err, "`proxyward doctor` names what it lacks") {
			t.Errorf("%v: %d %s%s", args, code, out, err)
		}
	}
	code, out, _ := says(t, "doctor", "--redis", as)
	if code != 1 || !strings.Contains(out, "as user viewer") || !strings.Contains(out, "acl: user viewer may not run ") || strings.Contains(out, testenv.PasswordOf("viewer")) {
		t.Errorf("%d %s", code, out)
	}
}

// configFile is a configuration with one check, on this Redis.
func configFile(t *testing.T, redis string) string {
	file := filepath.Join(t.TempDir(), "proxyward.yaml")
	text := "redis: " + redis + "\nchecks:\n  - name: shop\n    request: {url: \"http://127.0.0.1:9/\"}\n    endpoints: [{file: " + listFile(t, "127.0.0.1:9") + "}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRunRefusesAPolicyThatEvicts(t *testing.T) {
	url := testenv.Redis(t, "--maxmemory-policy", "allkeys-lfu")
	code, _, err := says(t, "run", "--config", configFile(t, `{url: "`+url+`"}`))
	if code != 2 || !strings.Contains(err, "will not run on the Redis at 127.0.0.1:") || !strings.Contains(err, "maxmemory-policy is allkeys-lfu") ||
		!strings.Contains(err, "config set maxmemory-policy noeviction") || !strings.Contains(err, "--allow-eviction") {
		t.Errorf("%d %s", code, err)
	}
	for name, args := range map[string][]string{
		"by a flag":        {"run", "--allow-eviction", "--config", configFile(t, `{url: "`+url+`"}`)},
		"by configuration": {"run", "--config", configFile(t, `{url: "`+url+`", allow_eviction: true}`)},
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, args...)
			l.sees(`"level":"warn".*maxmemory-policy is allkeys-lfu`)
			l.sees(`daemon starts`)
			if code := l.end(); code != 0 {
				t.Errorf("%d:\n%s", code, l.out.String())
			}
		})
	}
}

func TestRunSaysThatAPolicyCannotBeRead(t *testing.T) {
	url := testenv.Redis(t, "--include", testenv.ACL(t))
	testenv.Client(t, url).Do(t.Context(), "acl", "setuser", "proxyward", "-info")
	l := start(t, "run", "--config", configFile(t, `{url: "`+testenv.As("proxyward", url)+`"}`))
	l.sees(`"level":"warn".*maxmemory-policy cannot be read here`)
	l.sees(`daemon starts`)
	l.end()
}

func TestRunRefusesAUserWhoseScriptsWouldStopHalfWay(t *testing.T) {
	url := testenv.Redis(t, "--include", testenv.ACL(t))
	testenv.Client(t, url).Do(t.Context(), "acl", "setuser", "proxyward", "-zadd")
	code, _, err := says(t, "run", "--allow-eviction", "--config", configFile(t, `{url: "`+testenv.As("proxyward", url)+`"}`))
	if code != 2 || !strings.Contains(err, "user proxyward may not run zadd") || !strings.Contains(err, "+zadd") || strings.Contains(err, testenv.PasswordOf("proxyward")) {
		t.Errorf("%d %s", code, err)
	}
}

// A daemon starts without its Redis; when Redis comes, and evicts, the daemon ends.
func TestRunEndsWhenTheRedisThatComesEvicts(t *testing.T) {
	path, port := testenv.Program(t, "redis-server"), testenv.Port(t)
	url := "redis://127.0.0.1:" + strconv.Itoa(port) + "/0"
	l := start(t, "run", "--config", configFile(t, `{url: "`+url+`"}`))
	l.sees(`daemon starts`)
	testenv.StartRedis(t, path, port, t.TempDir(), "--maxmemory-policy", "allkeys-lru")
	select {
	case code := <-l.ended:
		if code != 2 || !strings.Contains(l.out.String(), "will not run on the Redis at ") {
			t.Errorf("%d:\n%s", code, l.out.String())
		}
	case <-time.After(30 * time.Second):
		t.Errorf("it goes on:\n%s", l.out.String())
		l.end()
	}
}
