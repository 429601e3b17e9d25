package e2e_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// mostExposed is the exposure that `systemd-analyze security` may find: what is left is the
// network and the sockets that the daemon is for.
const mostExposed = 1.1

func TestTheUnitIsSoundAndTight(t *testing.T) {
	t.Parallel()
	m := boot(t)
	m.install(packages(t).older)
	const unit = "/usr/lib/systemd/system/proxyward.service"
	o := m.try("systemd-analyze", "verify", "--man=no", unit)
	for _, line := range lines(o.err) {
		if !regexp.MustCompile(`Unknown key(?: name)? 'Restart(Steps|MaxDelaySec)'`).MatchString(line) { // before systemd 254
			t.Errorf("verify: %s", line)
		}
	}
	if o.code != 0 {
		t.Errorf("verify: exit status %d", o.code)
	}
	found := regexp.MustCompile(`exposure level for proxyward.service: ([0-9.]+)`).FindStringSubmatch(m.run("systemd-analyze", "security", "--no-pager", "proxyward.service"))
	if found == nil {
		t.Fatal("no exposure level")
	}
	level, _ := strconv.ParseFloat(found[1], 64)
	t.Logf("systemd-analyze security: %v", level)
	if level > mostExposed {
		t.Errorf("exposure level %v, over %v", level, mostExposed)
	}
}

func TestTheServiceFromStartToStop(t *testing.T) {
	t.Parallel()
	server, farm, m := testenv.NewServer(t, wardOnly...), testenv.NewFarm(t, 6), boot(t)
	config := m.serve(packages(t).older, server.URL, farm, 6)

	server.Kill()
	m.run("systemctl", "start", "--no-block", "proxyward")
	m.becomes("StatusText", "waiting for redis")
	time.Sleep(2 * time.Second) // time to say READY too early
	if got := m.prop("ActiveState"); got != "activating" {
		t.Errorf("without redis it is %s", got)
	}
	server.Start()
	m.becomes("ActiveState", "active")
	m.becomes("StatusText", "c: 6 eligible, 0 cooling")

	pid, client := m.prop("MainPID"), wardClient(t, server.URL)
	t.Run("a good reload is taken", func(t *testing.T) {
		m.write("/etc/proxyward/proxyward.yaml", strings.Replace(config, "recheck: 1s", "recheck: 2s", 1))
		m.run("systemctl", "reload", "proxyward")
		m.says("configuration reloaded")
	})
	t.Run("a bad one is refused", func(t *testing.T) {
		m.write("/etc/proxyward/proxyward.yaml", strings.Replace(config, "recheck: 1s", "rechek: 3s", 1))
		if o := m.try("systemctl", "reload", "proxyward"); o.code == 0 {
			t.Error("`systemctl reload` says that all is well")
		}
		m.becomes("StatusText", "the new configuration is refused, the old one stays; c: 6 eligible")
		m.says("configuration refused: the old one stays")
		m.says("/etc/proxyward/proxyward.yaml:9:5")
		if state := m.prop("ActiveState"); state != "active" || m.prop("MainPID") != pid {
			t.Errorf("%s, process %s, not %s", state, m.prop("MainPID"), pid)
		}
		before := len(farm.Hits())
		testenv.Eventually(t, 20*time.Second, "probes go on", func() bool { return len(farm.Hits()) > before+8 })
		m.write("/etc/proxyward/proxyward.yaml", config)
		m.run("systemctl", "reload", "proxyward")
		testenv.Eventually(t, 20*time.Second, "the status is good again", func() bool { return strings.HasPrefix(m.prop("StatusText"), "c: 6 eligible") })
	})
	t.Run("nobody else reads what is secret", func(t *testing.T) {
		for _, path := range []string{"/run/credentials/proxyward.service/proxyward.redis-password", "/etc/credstore/proxyward.redis-password", "/run/credentials/proxyward.service/proxyward.admin-token",
			"/etc/proxyward/proxies.txt", "/etc/proxyward/proxyward.yaml"} {
			m.run("test", "-s", path) // for root it is there
			if o := m.try("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "cat", path); o.code == 0 {
				t.Errorf("anybody reads %s", path)
			}
		}
		for what, text := range map[string]string{
			"journal":     m.run("journalctl", "--no-pager", "-o", "json"),
			"environment": m.run("cat", "/proc/"+pid+"/environ"),
			"arguments":   m.run("cat", "/proc/"+pid+"/cmdline"),
			"status":      m.run("systemctl", "show", "proxyward.service"),
		} {
			if strings.Contains(text, servicePassword) || strings.Contains(text, serviceToken) {
				t.Errorf("a secret is in the %s", what)
			}
		}
	})
	t.Run("the admin socket takes the token, for the group", func(t *testing.T) {
		for _, c := range []struct {
			path, token string
			want        int
		}{{"/healthz", "", 200}, {"/readyz", "", 200}, {"/metrics", "", 401}, {"/metrics", serviceToken, 200}} {
			if got := m.admin(c.path, c.token); got != c.want {
				t.Errorf("%s with token %q: %d, not %d", c.path, c.token, got, c.want)
			}
		}
		if got := m.run("stat", "-c", "%a %U %G", "/run/proxyward", "/run/proxyward/admin.sock"); got != "750 proxyward proxyward-conf\n660 proxyward proxyward-conf" {
			t.Errorf("the socket is %s", got)
		}
	})
	t.Run("the journal has fields", func(t *testing.T) {
		found := m.journal("-o", "json", "ENDPOINT="+farm.ID(0), "TO=eligible")
		for _, want := range []string{`"FROM":"candidate"`, `"CHECK":"c"`, `"PRIORITY":"6"`} {
			if !strings.Contains(found, want) {
				t.Errorf("no %s in %s", want, found)
			}
		}
		if got := m.journal("-o", "json", "ENDPOINT=http://192.0.2.1:80"); got != "" {
			t.Errorf("found %s", got)
		}
	})
	t.Run("an ejection is found by its cause, and by the probe that its event names", func(t *testing.T) {
		farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
			if proxy != farm.Host(0) {
				testenv.Good(w, r, proxy)
				return
			}
			w.Header().Set("Proxy-Authenticate", `Basic realm="farm"`)
			testenv.Say(http.StatusProxyAuthRequired)(w, r, proxy)
		})
		found := ""
		testenv.Eventually(t, time.Minute, "the journal has the ejection", func() bool {
			found = m.journal("-o", "json", "FROM=eligible", "TO=cooling", "STAGE=proxy_auth", "REASON=auth_required", "BLAME=credentials")
			return found != ""
		})
		type entry struct {
			ENDPOINT, PROBE, BY string
			Cursor              string `json:"__CURSOR"`
		}
		moved := decode[entry](t, found)
		if moved.ENDPOINT != farm.ID(0) || moved.PROBE == "" || moved.BY != "probe" {
			t.Errorf("found %s", found)
		}
		events, err := client.XRevRangeN(t.Context(), "proxyward:{c}:events", "+", "-", 1).Result()
		if err != nil || len(events) != 1 || events[0].Values["to"] != "cooling" || events[0].Values["probe"] != moved.PROBE {
			t.Errorf("the last event is %v, %v; the journal names probe %s", events, err, moved.PROBE)
		}
		if got := decode[entry](t, m.journal("-o", "json", "PROBE="+moved.PROBE)); got != moved {
			t.Errorf("by its probe %+v is found, by its cause %+v", got, moved)
		}
		m.becomes("StatusText", "c: 5 eligible, 1 cooling")
	})
	t.Run("the status says that the guard is open", func(t *testing.T) {
		farm.Answer(testenv.Say(http.StatusInternalServerError))
		m.becomes("StatusText", " cooling, guard open")
		farm.Answer(testenv.Good)
		testenv.Eventually(t, time.Minute, "it is closed again", func() bool { return !strings.Contains(m.prop("StatusText"), "guard open") })
	})
	t.Run("who may read the list looks at the pool", func(t *testing.T) {
		if o := m.wardCLI("fsck"); o.code != 0 {
			t.Errorf("fsck: %s%s", o.out, o.err)
		}
	})
	m.run("systemctl", "stop", "proxyward")
	if result, state := m.prop("Result"), m.prop("ActiveState"); result != "success" || state != "inactive" {
		t.Errorf("after the stop: %s, %s", result, state)
	}
	t.Run("secrets may be encrypted", func(t *testing.T) {
		for _, name := range []string{"proxyward.redis-url", "proxyward.redis-password", "proxyward.admin-token"} {
			m.run("mkdir", "-p", "/etc/credstore.encrypted")
			m.run("systemd-creds", "encrypt", "--with-key=host", "--name="+name, "/etc/credstore/"+name, "/etc/credstore.encrypted/"+name)
			m.run("rm", "/etc/credstore/"+name)
		}
		m.unit("LoadCredentialEncrypted=proxyward.redis-url", "LoadCredentialEncrypted=proxyward.redis-password", "LoadCredentialEncrypted=proxyward.admin-token")
		m.run("systemctl", "start", "proxyward")
		m.becomes("StatusText", " eligible")
		if got := m.admin("/metrics", serviceToken); got != http.StatusOK {
			t.Errorf("/metrics with the token: %d", got)
		}
	})
}

func TestWhatIsStuckOrKilledIsRestarted(t *testing.T) {
	t.Parallel()
	server, farm, m := testenv.NewServer(t, wardOnly...), testenv.NewFarm(t, 2), boot(t)
	m.serve(packages(t).older, server.URL, farm, 2)
	m.unit("WatchdogSec=5s", "RestartSec=100ms", "LimitNOFILE=300")
	m.run("systemctl", "start", "proxyward")
	m.becomes("StatusText", "c: 2 eligible")
	m.says("256 probes in flight need some 356 open files, and this process may have 300")

	// A slow Redis, and one that is away, are nothing that a restart would mend.
	client := wardClient(t, server.URL)
	client.Do(t.Context(), "CLIENT", "PAUSE", "7000", "ALL")
	time.Sleep(7 * time.Second)
	server.Kill()
	m.becomes("StatusText", "redis is away")
	time.Sleep(5 * time.Second)
	if n := m.prop("NRestarts"); n != "0" {
		t.Fatalf("%s restarts while redis was slow and away", n)
	}
	server.Start()
	m.becomes("StatusText", "c: 2 eligible")

	// A scheduler that is stuck is, though the process lives and Redis answers: the journal
	// takes no line, and a tick waits in its own.
	m.run("systemctl", "kill", "--kill-whom=main", "--signal=STOP", "systemd-journald")
	testenv.Eventually(t, 2*time.Minute, "the scheduler is stuck", func() bool { return m.admin("/healthz", "") == http.StatusServiceUnavailable })
	if got := m.admin("/readyz", ""); got != http.StatusOK {
		t.Errorf("/readyz: %d, while only the scheduler is stuck", got)
	}
	m.becomes("NRestarts", "1")
	m.run("systemctl", "kill", "--kill-whom=main", "--signal=CONT", "systemd-journald")
	m.becomes("StatusText", "c: 2 eligible")

	m.run("systemctl", "kill", "--kill-whom=main", "--signal=STOP", "proxyward")
	m.becomes("NRestarts", "2")
	m.says("Watchdog timeout")
	m.becomes("StatusText", "c: 2 eligible")
	m.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "proxyward")
	m.becomes("NRestarts", "3")
	m.becomes("StatusText", "c: 2 eligible")

	// What cannot start is tried again, until it can.
	m.run("mv", "/etc/proxyward/proxyward.yaml", "/etc/proxyward/aside")
	m.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "proxyward")
	m.becomes("NRestarts", "5")
	m.run("mv", "/etc/proxyward/aside", "/etc/proxyward/proxyward.yaml")
	m.becomes("StatusText", "c: 2 eligible")
	if o := m.wardCLI("fsck"); o.code != 0 {
		t.Errorf("fsck: %s%s", o.out, o.err)
	}
}

// A stop in the middle of the work: the probes in flight, longer than TimeoutStopSec and the
// watchdog's time, finish, and every one's result is written.
func TestAStopUnderLoadLosesNoResult(t *testing.T) {
	t.Parallel()
	const proxies, slow = 60, 5 * time.Second
	server, farm, m := testenv.NewServer(t, wardOnly...), testenv.NewFarm(t, proxies), boot(t)
	m.serve(packages(t).older, server.URL, farm, proxies)
	m.unit("TimeoutStopSec=4s", "WatchdogSec=4s")
	m.run("systemctl", "start", "proxyward")
	m.becomes("StatusText", fmt.Sprintf("c: %d eligible", proxies))
	farm.Answer(func(w http.ResponseWriter, r *http.Request, proxy string) {
		if rest(r, slow) {
			testenv.Good(w, r, proxy)
		}
	})
	farm.Reset()
	testenv.Eventually(t, time.Minute, "all proxies are being asked", func() bool { return len(farm.Hits()) >= proxies })
	m.run("systemctl", "stop", "proxyward")
	if result, restarts := m.prop("Result"), m.prop("NRestarts"); result != "success" || restarts != "0" {
		t.Errorf("the stop: %s, %s restarts", result, restarts)
	}
	o := m.wardCLI("endpoints", "--json")
	seen := 0
	for _, line := range lines(o.out) {
		e := decode[struct {
			Endpoint, State string
			LatencyMs       int64 `json:"latency_ms"` // of the last probe that passed
		}](t, line)
		for i := range proxies {
			if e.Endpoint != farm.ID(i) {
				continue
			}
			seen++
			if e.State != "eligible" || e.LatencyMs < slow.Milliseconds() {
				t.Errorf("%s is %s; its last result is of a probe of %d ms, no slow one", e.Endpoint, e.State, e.LatencyMs)
			}
		}
	}
	if seen != proxies {
		t.Errorf("%d endpoints, not %d: %s", seen, proxies, o.err)
	}
	client := wardClient(t, server.URL)
	if leases, daemons := client.ZCard(t.Context(), "proxyward:{c}:leases").Val(), client.ZCard(t.Context(), "proxyward:{c}:daemons").Val(); leases+daemons != 0 {
		t.Errorf("%d leases, %d daemons are left", leases, daemons)
	}
	if o := m.wardCLI("fsck"); o.code != 0 {
		t.Errorf("fsck: %s%s", o.out, o.err)
	}
}
