package e2e_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

const poolYAML = `
redis: {url: "REDIS"}
log: {level: debug}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 3s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST", refresh: "@every 1s"}]
    recheck: 1s
`

func TestAnEmptyPoolGivesNothing(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t)
	config := yaml(t, poolYAML, "REDIS", url, "LIST", file(t, "list", "http://"+testenv.Nobody(t)+"\n"))
	nothing := func() {
		t.Helper()
		o := proxyward(t, "allocate", "--config", config)
		if o.code != 1 || o.out != "" || o.err == "" {
			t.Errorf("allocate: exit status %d, %q, %q", o.code, o.out, o.err)
		}
		if o := proxyward(t, "allocate", "--config", config, "--json"); o.code != 1 || o.out != "" {
			t.Errorf("allocate --json: exit status %d, %q", o.code, o.out)
		}
		if got := redisCLI(t, "-u", url, "--no-raw", "--eval", "../../store/lua/allocate.lua", "proxyward:{c}:eligible"); got != "(nil)" {
			t.Errorf("the script answers %q", got)
		}
	}
	nothing()
	start(t, "--config", config)
	testenv.Eventually(t, 10*time.Second, "cooling", func() bool {
		return strings.Contains(proxyward(t, "allocate", "--config", config).err, "1 cooling")
	})
	nothing()
}

func TestTenFaultsOfAConfigurationAreToldAtOnce(t *testing.T) {
	t.Parallel()
	config := file(t, "faulty.yaml", `redis: {url: "ftp://redis.example", prefix: "a{b}"}
scheduler: {tick: "@every 1500ms"}
log: {level: loud}
checks:
  - name: Catalogue
    request: {url: "gopher://shop.example/", timeout: soon}
    expect: {status: [99], body_matches: "("}
    endpoints: [{fiel: proxies.txt}]
    rise: 0
    recheck: 5m
    recheck: 6m
`)
	for _, command := range [][]string{{"run"}, {"validate"}, {"status"}} {
		o := proxyward(t, append(command, "--config", config)...)
		found := regexp.MustCompile(`(?m)^.*faulty\.yaml:(\d+):\d+: \S+: .+$`).FindAllStringSubmatch(o.err, -1)
		at := map[string]bool{}
		for _, f := range found {
			at[f[1]] = true
		}
		if o.code != 2 || len(found) < 10 || len(at) < 8 || o.out != "" && command[0] != "validate" {
			t.Errorf("%s: exit status %d, %d faults in %d lines\n%s%s", command, o.code, len(found), len(at), o.out, o.err)
		}
	}
}

func TestListsThatNameNobodyAreRefusedByHand(t *testing.T) {
	t.Parallel()
	garbage := make([]byte, 100_000)
	for i := range garbage {
		garbage[i] = byte(i*i>>3 + i)
	}
	for name, list := range map[string]string{
		"absent":   filepath.Join(t.TempDir(), "absent"),
		"a folder": t.TempDir(),
		"garbage":  file(t, "garbage", string(garbage)),
		"empty":    file(t, "empty", "\n# nobody\n"),
	} {
		for _, args := range [][]string{
			{"run", "--target", "http://target.example/", "--redis", "embedded://127.0.0.1:0", "--list", list},
			{"import", "--dry-run", list},
		} {
			o := proxyward(t, args...)
			if o.code != 2 || !strings.Contains(o.err, list) || len(lines(o.err)) > 12 {
				t.Errorf("%s, %s: exit status %d\n%.2000s", name, args[0], o.code, o.err)
			}
		}
	}
}

// Lists that go wrong while a daemon serves them, each after a good one.
func TestAListThatGoesWrongRetiresNobody(t *testing.T) {
	t.Parallel()
	url, farm := testenv.Redis(t), testenv.NewFarm(t, 6)
	good := ""
	for i := range 6 {
		good += farm.ID(i) + "\n"
	}
	list := file(t, "list", good)
	config := yaml(t, poolYAML, "REDIS", url, "LIST", list)
	client := testenv.Client(t, url)
	d := start(t, "--config", config)
	eligible := func() bool { return client.ZCard(t.Context(), "proxyward:{c}:eligible").Val() == 6 }
	testenv.Eventually(t, 10*time.Second, "6 eligible", eligible)
	for _, c := range []struct {
		name, words string
		spoil       func() error
	}{
		{"gone", "cannot be read", func() error { return os.Remove(list) }},
		{"a folder", "cannot be read", func() error { os.Remove(list); return os.Mkdir(list, 0o700) }},
		{"garbage", "no endpoint", func() error {
			os.Remove(list)
			return os.WriteFile(list, []byte("\x00\xff not a proxy\n<html>\n"), 0o600)
		}},
		{"empty", "no endpoint", func() error { return os.WriteFile(list, nil, 0o600) }},
		{"most of it lost", "lost too much", func() error { return os.WriteFile(list, []byte(farm.ID(0)+"\n"), 0o600) }},
		{"one line of 200 MB", "no endpoint", func() error { return hugeLine(list) }},
	} {
		told := len(d.err.String())
		if err := c.spoil(); err != nil {
			t.Fatal(err)
		}
		testenv.Eventually(t, 15*time.Second, c.name+": it says "+c.words, func() bool { return strings.Contains(d.err.String()[told:], c.words) })
		if !eligible() || !d.alive() {
			t.Fatalf("%s: not all are eligible any more", c.name)
		}
		os.Remove(list)
		if err := os.WriteFile(list, []byte(good), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond) // it is read again, and found to be as before
	}
	t.Logf("%d MB at most", peakOf(t, d)>>20)
	if peak := peakOf(t, d); peak > memoryMost {
		t.Errorf("%d MB of memory at most", peak>>20)
	}
	if err := os.WriteFile(list, []byte(good+"http://"+testenv.Nobody(t)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 15*time.Second, "the mended list counts", func() bool {
		return client.HLen(t.Context(), "proxyward:{c}:endpoints").Val() == 7
	})
	farm.Reset()
	testenv.Eventually(t, 15*time.Second, "probes go on", func() bool { return len(farm.Hits()) >= 6 })
	ok(t, "fsck", "--config", config)
}

func TestALineOf200MBNeedsNoMemory(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "huge")
	if err := hugeLine(list); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "--target", "http://target.example/", "--redis", "embedded://127.0.0.1:0", "--list", list},
		{"import", "--dry-run", list},
	} {
		o := proxyward(t, args...)
		if o.code != 2 || !strings.Contains(o.err, list) || len(o.out)+len(o.err) > 4000 {
			t.Errorf("%s: exit status %d\n%.2000s", args[0], o.code, o.err)
		}
		t.Logf("%s: %d MB at most", args[0], o.peak>>20)
		if o.peak > memoryMost {
			t.Errorf("%s: %d MB of memory at most", args[0], o.peak>>20)
		}
	}
}

// hugeLine writes one line of 200 MB.
func hugeLine(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, chunk := bufio.NewWriter(f), bytes.Repeat([]byte("http://a"), 125_000)
	for range 200 {
		w.Write(chunk)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// peakOf is the largest resident memory of a running daemon, in bytes.
func peakOf(t *testing.T, d *daemon) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines(string(text)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			kb, _ := strconv.ParseInt(fields[1], 10, 64)
			return kb << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

func TestAWrongRedisPasswordIsSaidAndOutlived(t *testing.T) {
	t.Parallel()
	farm := testenv.NewFarm(t, 2)
	right := testenv.Redis(t, "--requirepass", "right")
	admin := testenv.Client(t, strings.Replace(right, "//", "//:right@", 1))
	wrong := strings.Replace(right, "//", "//:tr0mbone@", 1)
	config := yaml(t, poolYAML, "REDIS", wrong, "LIST", file(t, "list", farm.ID(0)+"\n"+farm.ID(1)+"\n"))
	for _, args := range [][]string{{"status"}, {"allocate"}, {"fsck"}, {"explain", farm.ID(0)}, {"recheck", farm.ID(0)}} {
		o := proxyward(t, append(args, "--config", config)...)
		if o.code != 2 || o.out != "" || !strings.Contains(o.err, "password") || strings.Contains(o.err, "tr0mbone") {
			t.Errorf("%s: exit status %d, %q, %q", args, o.code, o.out, o.err)
		}
	}
	d := start(t, "--config", config)
	testenv.Eventually(t, 10*time.Second, "it says so", func() bool { return strings.Contains(d.err.String(), "WRONGPASS") })
	time.Sleep(2 * time.Second)
	if !d.alive() {
		t.Fatal("the daemon has ended")
	}
	if n := strings.Count(d.err.String(), `"level":"error"`); n > 3 {
		t.Errorf("%d errors told", n)
	}
	if err := admin.ConfigSet(t.Context(), "requirepass", "tr0mbone").Err(); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 40*time.Second, "it goes on by itself", func() bool {
		return slices.Equal(admin.ZRange(t.Context(), "proxyward:{c}:eligible", 0, -1).Val(), []string{farm.ID(0), farm.ID(1)})
	})
	if strings.Contains(d.err.String()+d.out.String(), "tr0mbone") {
		t.Error("the password stands in the log")
	}
}
