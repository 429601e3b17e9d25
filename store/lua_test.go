package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

// luaFiles gives each script's header and its lines of code.
func luaFiles(t *testing.T) map[string][2][]string {
	t.Helper()
	paths, err := filepath.Glob("lua/*.lua")
	if err != nil || len(paths) < 9 {
		t.Fatal(paths, err)
	}
	files := map[string][2][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var header, code []string
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			if len(code) == 0 && strings.HasPrefix(line, "--") {
				header = append(header, line)
			} else if line != "" {
				code = append(code, line)
			}
		}
		files[filepath.Base(path)] = [2][]string{header, code}
	}
	return files
}

func TestEachScriptIsShortAndSaysWhatItTakesAndReturns(t *testing.T) {
	for name, f := range luaFiles(t) {
		header, code := strings.Join(f[0], "\n"), f[1]
		if len(code) > 25 {
			t.Errorf("%s has %d lines of code, 25 at most", name, len(code))
		}
		if name == "allocate.lua" || strings.HasPrefix(header, "-- Fragment") {
			continue
		}
		for _, word := range []string{"-- KEYS ", "-- ARGV ", "-- Returns "} {
			if !strings.Contains(header, word) {
				t.Errorf("the header of %s has no line %q", name, word)
			}
		}
	}
}

// Every key comes from KEYS: itself, by a name taken from it, or as a parameter called so.
func TestNoKeyIsBuiltInsideAScript(t *testing.T) {
	call := regexp.MustCompile(`redis\.p?call\(\s*'(\w+)'(?:\s*,\s*([^,)]+(?:\[[^\]]*\])?))?`)
	key := regexp.MustCompile(`^(KEYS\[[\w +]+\]|lanes\[lane\]|key|leases|tokens|inflight|engaged)$`)
	calls := 0
	for name, f := range luaFiles(t) {
		for _, line := range f[1] {
			for _, m := range call.FindAllStringSubmatch(line, -1) {
				calls++
				if m[1] == "XREADGROUP" && strings.Contains(line, "'STREAMS', KEYS[") {
					continue
				}
				if m[1] != "TIME" && !key.MatchString(strings.TrimSpace(m[2])) {
					t.Errorf("%s: the key %q in: %s", name, m[2], line)
				}
			}
			if strings.Count(line, "redis.") != len(call.FindAllString(line, -1)) {
				t.Errorf("%s: redis is used in another way than redis.call('COMMAND', KEY, …): %s", name, line)
			}
			if strings.Contains(line, "cjson") || strings.Contains(line, "loadstring") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	if calls < 50 {
		t.Errorf("only %d calls seen", calls)
	}
}

// A script that reaches for a key it did not declare must fail where contract says so.
func TestTheGuardSeesAnUndeclaredKey(t *testing.T) {
	at := real(t)
	for script, ok := range map[string]bool{
		`return redis.call('GET', KEYS[1])`:                  true,
		`return redis.call('TIME')[1]`:                       true,
		`return redis.call('GET', 'other')`:                  false,
		`return redis.call('GET', KEYS[1] .. ':undeclared')`: false,
	} {
		if err := at.raw.Eval(t.Context(), declaredOnly+script, []string{"k"}).Err(); err != nil && err.Error() != "redis: nil" && ok || !ok && err == nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// A node of a cluster refuses what is not on one slot, and scripts with #! are held to it.
func TestScriptsRunOnAClusterNode(t *testing.T) {
	at := place{testenv.Redis(t, "--cluster-enabled", "yes"), true, nil, func(part string) string { return "proxyward:{c}:" + part }}
	at.raw = testenv.Client(t, at.url)
	if err := at.raw.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "the cluster is not up", func() bool {
		return strings.Contains(at.raw.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	})
	p := at.pool(t)
	plant(t, p, record.Cooling, 1, id(0))
	plant(t, p, record.Eligible, 1, id(1))
	g := claim(t, p, request(9))
	commit(t, p, move(g.Leases[0], record.Eligible, g.Now, 0))
	if err := p.GiveBack(t.Context(), time.Second, []store.Return{{Lease: g.Leases[1]}}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Recheck(t.Context(), 0, ids(0, 2)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.HoldSource(t.Context(), "s", "d", time.Second, false); err != nil {
		t.Fatal(err)
	}
	if _, _, ok, err := p.Allocate(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, err := p.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	sound(t, p)
	applied(t)(p.Forget(t.Context(), record.ByOperator, []store.Entry{look(t, p, id(0))}))
}
