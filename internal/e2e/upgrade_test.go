package e2e_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
)

// before builds proxyward as it was before pools had a schema written down; where the history
// does not reach back that far, today's as if it knew the first schema only.
func before(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("git", "log", "--diff-filter=A", "--format=%H %P", "--", "../../store/schema.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	version, patch := "HEAD", `sed -i 's/^const Schema = .*/const Schema = 1/; /^	{1, /d' store/schema.go`
	if commit := strings.Fields(string(out)); len(commit) > 1 {
		version, patch = commit[1], "true"
	}
	dir := t.TempDir()
	if err := command("../..", "sh", "-c", `git archive "$1" | tar -x -C "$2" && cd "$2" && eval "$3"`, "sh", version, dir, patch); err != nil {
		t.Fatal(err)
	}
	older := filepath.Join(dir, "older")
	if err := command(dir, "go", "build", "-buildvcs=false", "-o", older, "."); err != nil {
		t.Fatal(err)
	}
	t.Logf("the older version is %s", version)
	return older
}

var mine = strconv.Itoa(store.Schema)

// Daemons of two versions on one Redis, replaced one by one, while the work goes on.
func TestAnUpgradeDaemonByDaemon(t *testing.T) {
	t.Parallel()
	older := before(t)
	url, farm := testenv.Redis(t), testenv.NewFarm(t, 6)
	client := testenv.Client(t, url)
	farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		if proxy == farm.Host(5) {
			testenv.Say(http.StatusForbidden)(w, r, proxy)
			return
		}
		testenv.Good(w, r, proxy)
	})
	list := ""
	for i := range 6 {
		list += farm.ID(i) + "\n"
	}
	config := yaml(t, poolYAML, "REDIS", url, "LIST", file(t, "list", list))
	startOld := func() *daemon {
		return startBy(t, func(cmd *exec.Cmd) error { cmd.Path = older; return cmd.Start() }, "--config", config)
	}
	stop := func(d *daemon) {
		t.Helper()
		d.signal(syscall.SIGTERM)
		if code := d.wait(15 * time.Second); code != 0 {
			t.Errorf("exit status %d", code)
		}
	}
	goesOn := func(what string) {
		t.Helper()
		n := len(farm.Hits())
		testenv.Eventually(t, 20*time.Second, "probes go on with "+what, func() bool { return len(farm.Hits()) > n+10 })
	}

	first, second := startOld(), startOld()
	testenv.Eventually(t, 20*time.Second, "five are eligible", func() bool { return client.ZCard(t.Context(), "proxyward:{c}:eligible").Val() == 5 })
	if o := run(t, older, "disable", "--config", config, farm.ID(0), "--note", "kept"); o.code != 0 {
		t.Fatalf("disable: %s%s", o.out, o.err)
	}
	for range 9 {
		if o := run(t, older, "allocate", "--config", config); o.code != 0 {
			t.Fatalf("allocate: %s%s", o.out, o.err)
		}
	}
	schema := func() string { return client.HGet(t.Context(), "proxyward:{c}:meta", "schema").Val() }
	if got := schema(); got == mine {
		t.Fatalf("what was built knows schema %s: it is not the older one", got)
	}

	third := start(t, "--config", config)
	testenv.Eventually(t, 20*time.Second, "the pool has today's schema", func() bool { return schema() == mine })
	goesOn("two old daemons and a new one")
	stop(first)
	start(t, "--config", config)
	goesOn("one old daemon and two new ones")
	stop(second)
	goesOn("new daemons")
	stop(third)
	goesOn("the last one")

	if r := explain(t, config, farm.ID(0)).Record; r.State != "disabled" || r.Note != "kept" {
		t.Errorf("the operator's hold became %+v", r)
	}
	if r := explain(t, config, farm.ID(5)).Record; r.State != "cooling" || r.Reason != "forbidden" && r.Reason != "http_status" || len(r.Classes) != 1 {
		t.Errorf("the one that fails became %+v", r)
	}
	allocated := 0.0
	for _, z := range client.ZRangeWithScores(t.Context(), "proxyward:{c}:eligible", 0, -1).Val() {
		allocated += z.Score
	}
	if allocated < 9 {
		t.Errorf("%v allocations of 9 are left", allocated)
	}
	if twice := farm.Overlaps(); len(twice) > 0 {
		t.Errorf("two probes at once through %v", twice)
	}
	ok(t, "fsck", "--config", config)
}

// A pool that a newer proxyward upgraded: this one keeps its hands off, and says so.
func TestANewerPoolIsLeftAlone(t *testing.T) {
	t.Parallel()
	url, farm := testenv.Redis(t), testenv.NewFarm(t, 2)
	client := testenv.Client(t, url)
	config := yaml(t, poolYAML, "REDIS", url, "LIST", file(t, "list", farm.ID(0)+"\n"+farm.ID(1)+"\n"))
	d := start(t, "--config", config)
	const meta = "proxyward:{c}:meta"
	testenv.Eventually(t, 20*time.Second, "both are eligible", func() bool { return client.ZCard(t.Context(), "proxyward:{c}:eligible").Val() == 2 })
	mine := client.HGet(t.Context(), meta, "schema").Val()
	number, _ := strconv.Atoi(mine)
	client.HSet(t.Context(), meta, "schema", number+1)

	testenv.Eventually(t, 60*time.Second, "the daemon says that it is too old", func() bool {
		return strings.Contains(d.err.String(), "this daemon stands by: it is too old for the pool")
	})
	testenv.Eventually(t, 20*time.Second, "nobody is being probed", func() bool { return client.ZCard(t.Context(), "proxyward:{c}:leases").Val() == 0 })
	farm.Reset()
	time.Sleep(3 * time.Second) // three rechecks that do not come
	if n := len(farm.Hits()); n > 0 || !d.alive() {
		t.Errorf("%d probes, alive: %v", n, d.alive())
	}
	for _, args := range [][]string{{"run"}, {"disable", farm.ID(0)}} {
		o := proxyward(t, append([]string{args[0], "--config", config}, args[1:]...)...)
		if want := "has schema " + strconv.Itoa(number+1) + ", this proxyward knows schemas up to " + mine + ": run the newer proxyward"; o.code != 2 || !strings.Contains(o.err, want) {
			t.Errorf("%s: exit status %d, %s", args[0], o.code, o.err)
		}
	}
	if got := redisCLI(t, "-u", url, "--eval", "../../store/lua/allocate.lua", "proxyward:{c}:eligible"); !strings.HasPrefix(got, "http://127.77.") {
		t.Errorf("a worker got %q", got)
	}

	client.HSet(t.Context(), meta, "schema", mine)
	testenv.Eventually(t, 60*time.Second, "the daemon goes on", func() bool { return len(farm.Hits()) > 0 })
}
