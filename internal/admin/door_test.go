package admin

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

const secret = "a-token-of-thirty-two-bytes-long"

func locked(o *Options) { o.Access.Token = secret }

func TestWithATokenOnlyHealthIsToldWithoutIt(t *testing.T) {
	d := serve(t, locked, func(o *Options) { o.Pprof = true })
	for _, r := range d.routes() {
		path := strings.NewReplacer("{check}", "c").Replace(r.path)
		if r.stream || strings.HasSuffix(path, "/profile") || strings.HasSuffix(path, "/trace") {
			continue
		}
		want := 401
		if path == "/healthz" || path == "/readyz" {
			want = 200
		}
		d.is(r.method+" "+path, d.ask(r.method, path, ""), want, "")
	}
	d.is("a stream", d.ask("GET", "/api/v1/events", ""), 401, "Bearer TOKEN")
	d.is("a path that is not there", d.ask("GET", "/nowhere", ""), 401, "")
	for name, c := range map[string]struct {
		header string
		status int
	}{
		"right":                {"Bearer " + secret, 200},
		"right, in lower case": {"bearer " + secret, 200},
		"wrong":                {"Bearer a-token-of-thirty-two-bytes-lonG", 401},
		"a beginning":          {"Bearer " + secret[:31], 401},
		"longer":               {"Bearer " + secret + "x", 401},
		"empty":                {"Bearer ", 401},
		"another scheme":       {"Basic " + secret, 401},
		"no scheme":            {secret, 401},
	} {
		r := d.ask("GET", "/api/v1/status", "", "Authorization", c.header)
		d.is(name, r, c.status, "")
		if c.status == 401 && r.Header.Get("WWW-Authenticate") != `Bearer realm="proxyward"` {
			t.Errorf("%s: %v", name, r.Header)
		}
	}
	d.is("the token as a query", d.ask("GET", "/api/v1/status?token="+secret, ""), 401, "")
}

func TestANewTokenReplacesTheOldOne(t *testing.T) {
	d := serve(t, locked)
	if d.Renew(Access{Token: "another-token-of-many-bytes"}) {
		t.Fatal("it kept the old one")
	}
	d.is("the old one", d.ask("GET", "/api/v1/status", "", "Authorization", "Bearer "+secret), 401, "")
	if !d.Renew(Access{}) {
		t.Error("it gave its token up")
	}
	d.is("no one", d.ask("GET", "/api/v1/status", ""), 401, "")
	d.is("the new one", d.ask("GET", "/api/v1/status", "", "Authorization", "Bearer another-token-of-many-bytes"), 200, "checks")
}

func TestForeignPagesMayNotAsk(t *testing.T) {
	d := serve(t)
	host := strings.TrimPrefix(d.base, "http://")
	_, port, _ := net.SplitHostPort(host)
	for name, c := range map[string]struct {
		status  int
		headers []string
	}{
		"no origin":                            {200, nil},
		"its own origin":                       {200, []string{"Origin", d.base, "Sec-Fetch-Site", "same-origin"}},
		"typed by a person":                    {200, []string{"Sec-Fetch-Site", "none"}},
		"another origin":                       {403, []string{"Origin", "https://evil.example"}},
		"an origin without a name":             {403, []string{"Origin", "null"}},
		"another port":                         {403, []string{"Origin", "http://127.0.0.1:1"}},
		"another site":                         {403, []string{"Sec-Fetch-Site", "cross-site"}},
		"another host of the site":             {403, []string{"Sec-Fetch-Site", "same-site"}},
		"a rebound name":                       {403, []string{"Host", "evil.example:" + port}},
		"a rebound name that tells its origin": {403, []string{"Host", "evil.example:" + port, "Origin", "http://evil.example:" + port}},
		"a name that begins well":              {403, []string{"Host", "127.0.0.1.evil.example"}},
		"localhost":                            {200, []string{"Host", "localhost:" + port}},
		"a loopback address of v6":             {200, []string{"Host", "[::1]:" + port}},
		"a name without a port":                {200, []string{"Host", "localhost"}},
	} {
		for _, path := range []string{"/api/v1/status", "/healthz", "/metrics", "/nowhere"} {
			want := c.status
			if path == "/nowhere" && want == 200 {
				want = 404
			}
			d.is(name+" at "+path, d.ask("GET", path, "", c.headers...), want, "")
		}
		if c.status == 403 {
			d.is(name+", an order", d.ask("POST", "/api/v1/checks/c/recheck", `{"all":true}`, c.headers...), 403, "")
		}
	}
}

func TestOrdersAreJSON(t *testing.T) {
	d := serve(t)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", "text/plain; application/json"} {
		d.is(kind, d.ask("POST", "/api/v1/checks/c/recheck", `{"all":true}`, "Content-Type", kind), 415, "application/json")
	}
	d.is("with a charset", d.ask("POST", "/api/v1/checks/c/recheck", `{"all":true}`, "Content-Type", "application/json; charset=utf-8"), 200, "counts")
}

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	d := serve(t)
	d.is("a body", d.ask("POST", "/api/v1/checks/c/recheck", `{"note":"`+strings.Repeat("x", bodyBytes)+`"}`), 413, "1 MiB")
	d.is("a body of 5 MiB", d.ask("POST", "/api/v1/checks/c/recheck", strings.Repeat(" ", 5<<20)), 413, "1 MiB")
	d.is("a body that just fits", d.ask("POST", "/api/v1/checks/c/recheck", `{"all":true}`+strings.Repeat(" ", bodyBytes-12)), 200, "")
	c, err := net.Dial("tcp", d.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Large: ", strings.Repeat("x", headerBytes))
	if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, " 431 ") {
		t.Errorf("a header of 64 KiB: %q, %v", line, err)
	}
	d.is("a header of 63 KiB", d.ask("GET", "/healthz", "", "X-Large", strings.Repeat("x", 63<<10)), 200, "ok")
}

func TestWhoIsSlowIsCutOff(t *testing.T) {
	t.Parallel()
	d := serve(t)
	c, err := net.Dial("tcp", d.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	c.SetReadDeadline(began.Add(headerTime + 10*time.Second))
	if b, err := io.ReadAll(c); err != nil || strings.Contains(string(b), "200 OK") {
		t.Errorf("after %v: %q, %v", time.Since(began), b, err)
	}
	if took := time.Since(began); took < headerTime-time.Second {
		t.Errorf("cut off after %v already", took)
	}
}

// What is asked at once is bounded; whether the daemon is well is told all the same, and
// metrics too, however many bodies stall, of whatever path.
func TestSoManyAtOnceAndNotMore(t *testing.T) {
	d := serve(t)
	for range scrapes + 1 {
		stall(d, "GET /metrics")
		stall(d, "GET /healthz")
	}
	var all []net.Conn
	more := func() { all = append(all, stall(d, "POST /api/v1/checks/c/recheck")) }
	for range parallel {
		more()
	}
	status := func() reply { return d.ask("GET", "/api/v1/status", "") }
	testenv.Eventually(t, requestTime/2, "there is no more room", func() bool {
		if status().StatusCode == 503 {
			return true
		}
		more() // the question may have had the place of one
		return false
	})
	for path, part := range map[string]string{"/healthz": "ok", "/readyz": "ready", "/metrics": "a_metric"} {
		d.is(path, d.ask("GET", path, ""), 200, part)
	}
	r := status()
	if d.is("one more", r, 503, "64 requests"); r.Header.Get("Retry-After") == "" {
		t.Errorf("no Retry-After: %v", r.Header)
	}
	for _, c := range all {
		c.Close()
	}
	testenv.Eventually(t, requestTime/2, "there is room again", func() bool { return status().StatusCode == 200 })
}

// stall begins a request whose body never comes.
func stall(d *desk, what string) net.Conn {
	d.Helper()
	c, err := net.Dial("tcp", d.Addr().String())
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"all\"", what)
	return c
}

func TestScrapesAreBounded(t *testing.T) {
	hold, inside := make(chan struct{}), make(chan struct{}, 2*scrapes)
	d := serve(t, func(o *Options) {
		o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			inside <- struct{}{}
			<-hold
			io.WriteString(w, "late\n")
		})
	})
	var all sync.WaitGroup
	for range scrapes {
		all.Go(func() {
			if resp, err := http.Get(d.base + "/metrics"); err != nil {
				t.Error(err)
			} else if resp.Body.Close(); resp.StatusCode != 200 {
				t.Errorf("one of the first: %d", resp.StatusCode)
			}
		})
	}
	for range scrapes {
		<-inside
	}
	d.is("one more", d.ask("GET", "/metrics", ""), 503, "4 requests")
	d.is("others have their own room", d.ask("GET", "/api/v1/status", ""), 200, "checks")
	close(hold)
	all.Wait()
	d.is("afterwards", d.ask("GET", "/metrics", ""), 200, "late")
}

func TestStreamsAreBounded(t *testing.T) {
	d := serve(t)
	for range streams {
		resp, err := http.Get(d.base + "/api/v1/events")
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		defer resp.Body.Close()
		if line, err := bufio.NewReader(resp.Body).ReadString('\n'); !strings.HasPrefix(line, "retry:") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	d.is("one more", d.ask("GET", "/api/v1/events", ""), 503, "32 requests")
	d.is("others have their own room", d.ask("GET", "/api/v1/status", ""), 200, "checks")
}

func TestAFaultEndsOneAnswerOnly(t *testing.T) {
	d := serve(t, func(o *Options) {
		o.Metrics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("canarypanic") })
	})
	r := d.ask("GET", "/metrics", "")
	if d.is("a panic", r, 500, "internal fault"); strings.Contains(r.body, "canarypanic") {
		t.Errorf("it tells what is inside: %s", r.body)
	}
	d.is("afterwards", d.ask("GET", "/healthz", ""), 200, "ok")
}
