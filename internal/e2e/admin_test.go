package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

const adminYAML = `
redis: {url: "REDIS"}
admin: ADMIN
checks:
  - name: catalogue
    request: {url: "http://target.example/catalogue", timeout: 3s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST", refresh: "@every 1s"}]
    recheck: 1s
`

// interfaced is a daemon whose HTTP interface is asked.
type interfaced struct {
	*daemon
	t             *testing.T
	config, token string
	base          string
}

const adminToken = "canarytoken-of-enough-bytes"

// withAdmin runs a daemon on the list; admin is the setting, TOKEN in it a file with the token.
func withAdmin(t *testing.T, redis, list, admin string) *interfaced {
	t.Helper()
	i := &interfaced{t: t, token: file(t, "admin-token", adminToken+"\n")}
	admin = strings.ReplaceAll(admin, "TOKEN", i.token)
	i.config = yaml(t, adminYAML, "REDIS", redis, "ADMIN", admin, "LIST", file(t, "list", list))
	i.daemon = start(t, "--config", i.config)
	i.base = "http://" + i.admin()
	return i
}

// admin is where the daemon's HTTP interface listens.
func (d *daemon) admin() (address string) {
	d.t.Helper()
	listens := regexp.MustCompile(`the admin interface listens","address":"([^"]+)"`)
	testenv.Eventually(d.t, 15*time.Second, "the interface listens", func() bool {
		m := listens.FindStringSubmatch(d.err.String())
		if m != nil {
			address = m[1]
		}
		return m != nil
	})
	return address
}

// ask sends a request with the token and gives the status and the body.
func (i *interfaced) ask(method, path, body string, headers ...string) (int, string) {
	i.t.Helper()
	r, err := http.NewRequestWithContext(i.t.Context(), method, i.base+path, strings.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
	}
	for n := 0; n < len(headers); n += 2 {
		if r.Header.Set(headers[n], headers[n+1]); headers[n] == "Host" {
			r.Host = headers[n+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		i.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// metric is the value of one metric with its labels; NaN-free, -1 where it is not served.
func (i *interfaced) metric(name string) float64 {
	i.t.Helper()
	_, text := i.ask("GET", "/metrics", "")
	for line := range strings.Lines(text) {
		if rest, is := strings.CutPrefix(line, name+" "); is {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				i.t.Fatal(err)
			}
			return v
		}
	}
	return -1
}

const locked = `{listen: "127.0.0.1:0", token_file: "TOKEN"}`

func TestTheInterfaceOfARunningDaemon(t *testing.T) {
	t.Parallel()
	farm := testenv.NewFarm(t, 3)
	list := farm.ID(0) + "\n" + farm.ID(1) + "\n" + farm.ID(2) + "\n"
	i := withAdmin(t, testenv.As("proxyward", testenv.Redis(t, "--include", testenv.ACL(t))), list, locked) // with the rights of the ACL that is shipped, no more
	testenv.Eventually(t, 15*time.Second, "ready", func() bool { code, _ := i.ask("GET", "/readyz", ""); return code == 200 })
	eligible := `proxyward_endpoints{check="catalogue",state="eligible"}`
	testenv.Eventually(t, 15*time.Second, "3 eligible", func() bool { return i.metric(eligible) == 3 })
	for name, c := range map[string]struct {
		status  int
		headers []string
	}{
		"the token":      {200, nil},
		"no token":       {401, []string{"Authorization", ""}},
		"a wrong token":  {401, []string{"Authorization", "Bearer " + strings.ToUpper(adminToken)}},
		"a foreign page": {403, []string{"Origin", "https://evil.example", "Authorization", ""}},
		"a rebound name": {403, []string{"Host", "evil.example"}},
		"another site":   {403, []string{"Sec-Fetch-Site", "cross-site"}},
	} {
		for _, path := range []string{"/api/v1/status", "/metrics", "/api/v1/checks/catalogue/endpoints"} {
			if code, body := i.ask("GET", path, "", c.headers...); code != c.status {
				t.Errorf("%s at %s: %d %s", name, path, code, body)
			}
		}
	}
	for _, path := range []string{"", "/endpoints?state=eligible", "/guard", "/sources", "/events"} {
		if code, body := i.ask("GET", "/api/v1/checks/catalogue"+path, ""); code != 200 {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, _ := i.ask("GET", "/healthz", "", "Authorization", ""); code != 200 {
		t.Errorf("health without a token: %d", code)
	}
	// What it says and does is what the commands say and do.
	code, body := i.ask("POST", "/api/v1/checks/catalogue/disable", `{"endpoints": ["`+farm.ID(0)+`"], "note": "why"}`)
	if code != 200 || !strings.Contains(body, `"counts":{"disabled":1}`) {
		t.Errorf("%d %s", code, body)
	}
	if e := explain(t, i.config, farm.ID(0)); e.Record.State != "disabled" || e.Record.Note != "why" {
		t.Errorf("%+v", e)
	}
	if code, body := i.ask("GET", "/api/v1/checks/catalogue/explain?endpoint="+farm.ID(0), ""); code != 200 || strings.TrimSpace(body) != strings.TrimSpace(ok(t, "explain", "--config", i.config, "--json", farm.ID(0))) {
		t.Errorf("explain: %d %s", code, body)
	}
	for _, order := range []string{"recheck", "enable"} {
		if code, body := i.ask("POST", "/api/v1/checks/catalogue/"+order, `{"filters": {"sources": ["list"]}}`); code != 200 || !strings.Contains(body, farm.ID(0)) {
			t.Errorf("%s: %d %s", order, code, body)
		}
	}
	testenv.Eventually(t, 15*time.Second, "3 eligible again", func() bool { return i.metric(eligible) == 3 })

	// A new token counts from the reload on; a bad one changes nothing.
	hangUp := func(token, said string) {
		t.Helper()
		if err := os.WriteFile(i.token, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		i.signal(syscall.SIGHUP)
		testenv.Eventually(t, 10*time.Second, said, func() bool { return strings.Contains(i.err.String(), said) })
	}
	hangUp("short", "has 5 bytes: write at least 16")
	if code, _ := i.ask("GET", "/api/v1/status", ""); code != 200 || i.metric("proxyward_config_last_reload_successful") != 0 {
		t.Errorf("after a refused reload: %d", code)
	}
	hangUp("another-token-of-enough-bytes", "configuration reloaded")
	if code, _ := i.ask("GET", "/api/v1/status", ""); code != 401 {
		t.Errorf("the old token: %d", code)
	}
	if code, _ := i.ask("GET", "/api/v1/status", "", "Authorization", "Bearer another-token-of-enough-bytes"); code != 200 {
		t.Errorf("the new token: %d", code)
	}
	if all := i.err.String(); strings.Contains(all, "canarytoken") || strings.Contains(all, "another-token") {
		t.Error("the log tells a token")
	}
}

func TestRunRefusesAnInterfaceThatIsNotSafe(t *testing.T) {
	t.Parallel()
	redis, list := testenv.Redis(t), file(t, "list", "http://192.0.2.1:80\n")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	short := file(t, "token", "fifteencanaries")
	for name, c := range map[string]struct{ admin, says string }{
		"all addresses":           {`{listen: "0.0.0.0:0"}`, `proxyward.yaml:3:17: admin.listen: 0.0.0.0:0 can be reached from other machines: set admin.token_file and admin.tls`},
		"a token alone":           {`{listen: ":0", token_file: "` + short + `"}`, "can be reached from other machines"},
		"a short token":           {`{listen: "127.0.0.1:0", token_file: "` + short + `"}`, "the admin interface at 127.0.0.1:0: admin.token_file: the token in " + short + " has 15 bytes: write at least 16"},
		"no token in the file":    {`{listen: "127.0.0.1:0", token_file: /nowhere/token}`, "the file /nowhere/token cannot be read: there is none"},
		"profiles without one":    {`{listen: "127.0.0.1:0", pprof: true}`, "admin.pprof: profiles show what is in memory: set admin.token_file"},
		"a port that is taken":    {`{listen: "` + taken.Addr().String() + `"}`, "is taken by another process: write another port"},
		"a certificate not there": {`{listen: ":0", token_file: "` + file(t, "long", adminToken) + `", tls: {cert_file: /nowhere/c, key_file: /nowhere/k}}`, "admin.tls.cert_file: the file /nowhere/c cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			o := proxyward(t, "run", "--config", yaml(t, adminYAML, "REDIS", redis, "ADMIN", c.admin, "LIST", list))
			if o.code != 2 || !strings.Contains(o.err, c.says) || strings.Contains(o.err, "canar") {
				t.Errorf("exit status %d: %s", o.code, o.err)
			}
		})
	}
}

func TestADefaultPortThatIsTakenStopsNobody(t *testing.T) {
	t.Parallel()
	if l, err := net.Listen("tcp", "127.0.0.1:9180"); err == nil { // else another test's daemon has it
		defer l.Close()
	}
	d := start(t, "--config", yaml(t, strings.Replace(adminYAML, "admin: ADMIN", "", 1), "REDIS", testenv.Redis(t), "LIST", file(t, "list", "http://192.0.2.1:80\n")))
	testenv.Eventually(t, 15*time.Second, "it works", func() bool { return strings.Contains(d.err.String(), "list applied") })
	if !strings.Contains(d.err.String(), "the admin interface is not served: set admin.listen") {
		t.Error("it does not say that the interface is missing")
	}
}

// Many who ask at once, slowly, and too much do not hold up the work.
func TestTheSchedulerDoesNotNoticeAFlood(t *testing.T) {
	t.Parallel()
	farm := testenv.NewFarm(t, 20)
	var list strings.Builder
	for n := range 20 {
		fmt.Fprintln(&list, farm.ID(n))
	}
	i := withAdmin(t, testenv.Redis(t), list.String(), locked)
	testenv.Eventually(t, 15*time.Second, "all eligible", func() bool { return i.metric(`proxyward_endpoints{check="catalogue",state="eligible"}`) == 20 })
	addr := strings.TrimPrefix(i.base, "http://")
	for range 100 { // headers that never end
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	}
	farm.Reset()
	began, counts := time.Now(), map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	big := bytes.Repeat([]byte(" "), 2<<20)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}, Timeout: 20 * time.Second}
	for n := range 100 {
		all.Go(func() {
			for time.Since(began) < 5*time.Second {
				method, path, body := "GET", "/api/v1/checks/catalogue/endpoints?limit=1000", []byte(nil)
				if n%10 == 0 {
					method, path, body = "POST", "/api/v1/checks/catalogue/recheck", big
				}
				r, _ := http.NewRequest(method, i.base+path, bytes.NewReader(body))
				r.Header.Set("Authorization", "Bearer "+adminToken)
				r.Header.Set("Content-Type", "application/json")
				resp, err := client.Do(r)
				code := 0
				if err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					code = resp.StatusCode
				}
				mu.Lock()
				counts[code]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	hits := len(farm.Hits())
	t.Logf("answers by status: %v; %d probes in %v", counts, hits, took)
	if counts[200] < 50 || counts[413] == 0 {
		t.Errorf("answers by status: %v", counts)
	}
	for code := range counts {
		if code != 200 && code != 413 && code != 503 {
			t.Errorf("%d answers with status %d", counts[code], code)
		}
	}
	if most := int(took.Seconds()) * 20; hits < most/6 { // the machine has other things to do, too
		t.Errorf("%d probes while it was asked so much, of %d", hits, most)
	}
	if late := i.metric(`proxyward_tick_lag_seconds{check="catalogue"}`); late > 5 {
		t.Errorf("the tick is %v s late", late)
	}
}
