package scheduler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// writeList replaces the list in one step, as a careful writer does.
func writeList(t *testing.T, path string, lines ...string) {
	t.Helper()
	next := path + ".next"
	if err := os.WriteFile(next, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func listed(f *testenv.Farm, from, to int) (lines []string) {
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprintf("%s:%d", f.Host(i), f.Port))
	}
	return lines
}

func refreshed(t *testing.T) (list string, c scheduler.Check, p *store.Pool, farm *testenv.Farm, url string) {
	t.Helper()
	url = testenv.Redis(t)
	list = filepath.Join(t.TempDir(), "proxies.txt")
	c = testCheck(t)
	c.Sources = []scheduler.Source{{File: list, Scheme: "http", Refresh: "@every 1s"}}
	return list, c, openPool(t, url), testenv.NewFarm(t, 10), url
}

func TestAListIsFollowed(t *testing.T) {
	t.Parallel()
	list, c, p, farm, url := refreshed(t)
	writeList(t, list, listed(farm, 0, 8)...)
	startDaemon(t, url, c)
	testenv.Eventually(t, 10*time.Second, "8 eligible", func() bool { return states(t, p)[record.Eligible] == 8 })

	writeList(t, list, listed(farm, 2, 10)...)
	testenv.Eventually(t, 10*time.Second, "two gone, two new", func() bool {
		s := states(t, p)
		return s[record.Disabled] == 2 && s[record.Eligible] == 8
	})
	if e := look(t, p, farm.ID(0)); e.Record.Holds[0] != record.Retired || len(e.Record.Sources) != 0 || e.Record.By != record.BySource {
		t.Errorf("retired: %s", e.Raw)
	}
	if _, err := scheduler.Disable(t.Context(), p, []string{farm.ID(1)}, "not ours", 0); err != nil {
		t.Fatal(err)
	}
	writeList(t, list, listed(farm, 0, 10)...)
	testenv.Eventually(t, 10*time.Second, "one returns, one is held by the operator", func() bool {
		s := states(t, p)
		return s[record.Disabled] == 1 && s[record.Eligible] == 9
	})
	if e := look(t, p, farm.ID(1)); len(e.Record.Holds) != 1 || e.Record.Holds[0] != record.Operator || e.Record.Note != "not ours" {
		t.Errorf("the return of a list entry lifted an operator's hold: %s", e.Raw)
	}
	sound(t, p)
}

func TestABadRefreshRetiresNobody(t *testing.T) {
	t.Parallel()
	list, c, p, farm, url := refreshed(t)
	writeList(t, list, listed(farm, 0, 8)...)
	startDaemon(t, url, c)
	testenv.Eventually(t, 10*time.Second, "8 eligible", func() bool { return states(t, p)[record.Eligible] == 8 })
	for name, spoil := range map[string]func(){
		"empty":   func() { writeList(t, list) },
		"garbage": func() { writeList(t, list, "<html>", "<body>no list today</body>") },
		"shrunk":  func() { writeList(t, list, listed(farm, 0, 3)...) },
		"gone":    func() { os.Remove(list) },
	} {
		spoil()
		testenv.Eventually(t, 10*time.Second, "two refreshes", ticksPassed(t, p, 2500))
		if s := states(t, p); s[record.Eligible] != 8 {
			t.Errorf("%s: %v", name, s)
		}
	}
	writeList(t, list, append(listed(farm, 0, 3), listed(farm, 8, 9)...)...)
	testenv.Eventually(t, 10*time.Second, "the new one of a list that shrank", func() bool { return states(t, p)[record.Eligible] == 9 })
	sound(t, p)
}

func TestAChangedPasswordKeepsTheHistoryAndIsProbedAtOnce(t *testing.T) {
	t.Parallel()
	list, c, p, farm, url := refreshed(t)
	writeList(t, list, fmt.Sprintf("http://u:first-pw@%s:%d", farm.Host(0), farm.Port))
	id := fmt.Sprintf("http://u@%s:%d", farm.Host(0), farm.Port)
	startDaemon(t, url, c)
	testenv.Eventually(t, 10*time.Second, "eligible", func() bool { return look(t, p, id).Member })
	before := farm.HitsOf(farm.Host(0))
	writeList(t, list, fmt.Sprintf("http://u:other-pw@%s:%d", farm.Host(0), farm.Port))
	testenv.Eventually(t, 10*time.Second, "probed again", func() bool { return farm.HitsOf(farm.Host(0)) > before })
	e := look(t, p, id)
	if e.Record.URLRev != 1 || !strings.Contains(e.URL, ":other-pw@") || strings.Contains(e.Raw, "pw") || len(e.Record.History) == 0 {
		t.Errorf("after the change: %s", e.Raw)
	}
	sound(t, p)
}

func TestAnOperatorsHoldEndsByItself(t *testing.T) {
	t.Parallel()
	_, c, p, farm, url := refreshed(t)
	c.Sources = nil
	enroll(t, p, farm, 1)
	if _, err := scheduler.Disable(t.Context(), p, []string{farm.ID(0)}, "for a moment", time.Second); err != nil {
		t.Fatal(err)
	}
	startDaemon(t, url, c)
	testenv.Eventually(t, 15*time.Second, "eligible", func() bool { return look(t, p, farm.ID(0)).Member })
	if e := look(t, p, farm.ID(0)); e.Record.Note != "" || e.Record.HoldUntilMs != 0 {
		t.Errorf("after the hold: %s", e.Raw)
	}
}

func TestAStrangersListMayNotNamePrivateAddresses(t *testing.T) {
	t.Parallel()
	for _, allow := range []bool{false, true} {
		_, c, p, farm, url := refreshed(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, strings.Join(listed(farm, 0, 3), "\n"))
		}))
		t.Cleanup(server.Close)
		c.Sources = []scheduler.Source{{URL: server.URL + "/list?token=s3cret", Scheme: "http", Refresh: "@every 1h", AllowPrivate: allow}}
		startDaemon(t, url, c)
		want := record.Cooling
		if allow {
			want = record.Eligible
		}
		testenv.Eventually(t, 10*time.Second, "3 "+string(want), func() bool { return states(t, p)[want] == 3 })
		if e := look(t, p, farm.ID(0)); strings.Contains(e.Raw, "s3cret") || e.Record.Sources[0] != "url:"+server.URL+"/list" {
			t.Errorf("record: %s", e.Raw)
		}
		if asked := len(farm.Hits()); !allow && asked > 0 {
			t.Errorf("%d probes went to private addresses", asked)
		}
	}
}

func TestAPoolThatVanishedIsBuiltAnewFromItsLists(t *testing.T) {
	t.Parallel()
	list, c, p, farm, url := refreshed(t)
	c.Sources[0].Refresh = "@every 1h"
	writeList(t, list, listed(farm, 0, 5)...)
	startDaemon(t, url, c)
	testenv.Eventually(t, 10*time.Second, "5 eligible", func() bool { return states(t, p)[record.Eligible] == 5 })
	if err := testenv.Client(t, url).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "5 eligible again", func() bool { return states(t, p)[record.Eligible] == 5 })
	if e := look(t, p, farm.ID(0)); len(e.Record.History) != 2 || e.Record.History[0].To != record.Candidate {
		t.Errorf("eligible without a proof: %s", e.Raw)
	}
	sound(t, p)
}

// A start and a reload read the list at once, though the next refresh is an hour away and
// another daemon has the right to it.
func TestAListIsReadAtTheStartAndAtAReload(t *testing.T) {
	t.Parallel()
	list, c, p, farm, url := refreshed(t)
	c.Made, c.Sources[0].Refresh = "as ever", "@every 1h"
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d := scheduler.NewDaemon(scheduler.Options{Store: s, Prober: prober.New(64), Checks: []scheduler.Check{c}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	for n, again := range []func(){
		func() { go func() { ended <- d.Run(ctx) }() },
		func() {
			if err := d.Apply([]scheduler.Check{c}, 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		writeList(t, list, listed(farm, 0, 4+n)...)
		if mine, _, err := p.HoldSource(t.Context(), "file:"+list, "another", time.Hour, true); !mine || err != nil {
			t.Fatal(mine, err)
		}
		again()
		testenv.Eventually(t, 10*time.Second, "the list is in the pool", func() bool { return states(t, p)[record.Eligible] == 4+int64(n) })
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
