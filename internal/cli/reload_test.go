package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
)

const reloadedYAML = `
redis: {url: "REDIS"}
admin: {listen: ""}
prober: {concurrency: CONCURRENCY}
checks:
  - &c
    name: steady
    request: {url: "http://target.example/", timeout: 2s}
    expect: {status: [200]}
    endpoints: [{file: "LIST"}]
    recheck: 1s
  - <<: *c
    name: changing
    recheck: RECHECK
`

// tellings counts what the daemon says of its reloads, and keeps no line.
type tellings struct {
	taken, refused atomic.Int64
}

func (c *tellings) Write(b []byte) (int, error) {
	c.taken.Add(int64(bytes.Count(b, []byte("configuration reloaded"))))
	c.refused.Add(int64(bytes.Count(b, []byte("configuration refused"))))
	return len(b), nil
}

// Ten thousand reloads of good and bad files, one after the other, while it probes (fewer with
// the race detector): nothing leaks, no tick is missed, nobody is lost.
func TestTenThousandReloads(t *testing.T) {
	const endpoints = 20
	hangups := 10_000
	if testing.Short() || testenv.Race {
		hangups = 500
	}
	url, farm, file := testenv.Redis(t), testenv.NewFarm(t, endpoints), filepath.Join(t.TempDir(), "proxyward.yaml")
	var list strings.Builder
	for i := range endpoints {
		fmt.Fprintln(&list, farm.ID(i))
	}
	names := listFile(t, list.String())
	write := func(n int) (good bool) {
		text := strings.NewReplacer("REDIS", url, "LIST", names, "RECHECK", fmt.Sprintf("%ds", 1+n%4), "CONCURRENCY", fmt.Sprint(10+n%3)).Replace(reloadedYAML)
		switch n % 10 {
		case 3:
			text = "no_such_setting: 1" + text
		case 5:
			text = text[:len(text)/2] + "\n}"
		case 7:
			text = strings.Replace(text, "prober: {concurrency: ", "prober: {concurrency: -", 1)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return n%10 != 3 && n%10 != 5 && n%10 != 7
	}
	write(0)
	var told tellings
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		a := &app{in: strings.NewReader(""), out: &told, err: &told, getenv: func(string) string { return "" }}
		ended <- a.run(ctx, []string{"run", "--config", file})
	}()
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	eligible := func(check string) int64 {
		st, err := s.Pool(check).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st.States["eligible"]
	}
	everybody := func() bool { return eligible("steady") == endpoints && eligible("changing") == endpoints }
	testenv.Eventually(t, 30*time.Second, "all eligible", everybody)
	files := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, began, probed, filesBefore, heapBefore := runtime.NumGoroutine(), time.Now(), len(farm.Hits()), files(), heap()
	var wanted, refused int64
	var silent time.Duration
	for n := range hangups {
		if write(n + 1) {
			wanted++
		} else {
			refused++
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(30 * time.Second); told.taken.Load() != wanted || told.refused.Load() != refused; time.Sleep(100 * time.Microsecond) {
			if time.Now().After(until) {
				t.Fatalf("after %d reloads: %d of %d taken, %d of %d refused", n+1, told.taken.Load(), wanted, told.refused.Load(), refused)
			}
		}
		if n%100 == 0 {
			st, err := s.Pool("steady").Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, heard := range st.Daemons {
				silent = max(silent, time.Duration(st.Now-heard)*time.Millisecond)
			}
		}
	}
	took := time.Since(began)
	testenv.Eventually(t, 30*time.Second, "all still eligible", everybody)
	testenv.Eventually(t, 10*time.Second, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before+5 })
	testenv.Eventually(t, 10*time.Second, "as many files as before", func() bool { return files() <= filesBefore+10 })
	if grown := heap() - heapBefore; grown > 30<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	if silent > 3*time.Second {
		t.Errorf("the steady check had no tick for %v", silent)
	}
	if n := len(farm.Hits()) - probed; float64(n) < took.Seconds()*endpoints/2 {
		t.Errorf("%d probes in %v of reloading", n, took)
	}
	for _, check := range []string{"steady", "changing"} {
		r, err := s.Pool(check).Fsck(t.Context())
		if err != nil || len(r.Violations) > 0 || r.Checked != endpoints {
			t.Errorf("%s: %+v %v", check, r, err)
		}
	}
	t.Logf("figures: %d reloads in %v, %d goroutines before, %d after, longest time without a tick %v", hangups, took.Round(100*time.Millisecond),
		before, runtime.NumGoroutine(), silent)
	stop()
	if code := <-ended; code != exitYes {
		t.Errorf("status %d", code)
	}
}
