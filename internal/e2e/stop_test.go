package e2e_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

func TestTheFirstSignalDrainsAndALaterOneEndsAtOnce(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			url, farm := testenv.Redis(t), testenv.NewFarm(t, 4)
			client := testenv.Client(t, url)
			var hang atomic.Bool
			asked := make(chan string, 100)
			farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
				asked <- proxy
				if hang.Load() {
					rest(r, time.Minute)
				} else if rest(r, time.Second) {
					testenv.Good(w, r, proxy)
				}
			})
			list := ""
			for i := range 4 {
				list += farm.ID(i) + "\n"
			}
			config := yaml(t, poolYAML, "REDIS", url, "LIST", file(t, "list", list))
			counts := func() string {
				c := client.Pipeline()
				eligible, leases, daemons := c.ZCard(t.Context(), "proxyward:{c}:eligible"), c.ZCard(t.Context(), "proxyward:{c}:leases"), c.ZCard(t.Context(), "proxyward:{c}:daemons")
				c.Exec(t.Context())
				return fmt.Sprintf("%d eligible, %d leases, %d daemons", eligible.Val(), leases.Val(), daemons.Val())
			}

			d := start(t, "--config", config)
			for range 4 {
				<-asked
			}
			for range 4 { // within milliseconds: that is one order, sent more than once
				d.signal(s)
				time.Sleep(5 * time.Millisecond) // else the kernel makes one of them
			}
			if code := d.wait(5 * time.Second); code != 0 {
				t.Errorf("exit status %d after the first signals", code)
			}
			if got := counts(); got != "4 eligible, 0 leases, 0 daemons" {
				t.Errorf("after the stop: %s", got)
			}
			if len(asked) > 0 {
				t.Errorf("%d probes began after the signal", len(asked))
			}

			hang.Store(true)
			d = start(t, "--config", config)
			<-asked
			d.signal(s)
			time.Sleep(1500 * time.Millisecond) // over the second that makes it another order
			if !d.alive() {
				t.Fatal("it did not wait for the probe in flight")
			}
			began := time.Now()
			d.signal(s)
			if code := d.wait(5 * time.Second); code != 128+int(s) || time.Since(began) > time.Second {
				t.Errorf("exit status %d, %v after the second signal", code, time.Since(began))
			}
			ok(t, "fsck", "--config", config)
		})
	}
}

// What hangs longer than the grace time is given back, unpunished.
func TestAStopGivesBackWhatDoesNotFinish(t *testing.T) {
	t.Parallel()
	url, farm := testenv.Redis(t), testenv.NewFarm(t, 1)
	client := testenv.Client(t, url)
	asked := make(chan string, 10)
	farm.Answer(func(_ http.ResponseWriter, r *http.Request, proxy string) {
		asked <- proxy
		rest(r, time.Minute)
	})
	config := yaml(t, poolYAML, "REDIS", url, "LIST", file(t, "list", farm.ID(0)+"\n"), "timeout: 3s", "timeout: 30s")
	d := start(t, "--config", config, "--grace", "500ms")
	<-asked
	d.signal(syscall.SIGTERM)
	if code := d.wait(3 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
	r := explain(t, config, farm.ID(0)).Record
	if leases := client.ZCard(t.Context(), "proxyward:{c}:leases").Val(); leases != 0 || r.State != "candidate" || len(r.Classes) > 0 {
		t.Errorf("%d leases, %+v", leases, r)
	}
	ok(t, "fsck", "--config", config)
}
