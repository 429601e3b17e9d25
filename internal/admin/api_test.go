package admin

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"proxyward/checks/endpoint"
	"proxyward/internal/operate"
	"proxyward/internal/testenv"
	"proxyward/scheduler"
	"proxyward/store/record"
)

// walk reads all pages of a pool's endpoints.
func walk(d *desk, query string, limit int) (ids []string, pages int) {
	d.Helper()
	cursor := ""
	for pages = 1; ; pages++ {
		p := get[operate.Page](d, fmt.Sprintf("/api/v1/checks/c/endpoints?limit=%d&cursor=%s%s", limit, cursor, query))
		if len(p.Endpoints) > limit {
			d.Fatalf("%d endpoints on a page of %d", len(p.Endpoints), limit)
		}
		for _, e := range p.Endpoints {
			ids = append(ids, e.Endpoint)
		}
		if cursor = p.Next; cursor == "" {
			return ids, pages
		}
	}
}

func TestAWalkMeetsEveryEndpointOnce(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, redis string) {
		d := serveOn(t, redis)
		want := d.enroll(1003)
		slices.Sort(want)
		for _, limit := range []int{1000, 250, 200, 199, 37} {
			ids, pages := walk(d, "", limit)
			slices.Sort(ids)
			if got := slices.Compact(slices.Clone(ids)); !slices.Equal(got, want) || len(ids) != len(want) {
				t.Errorf("limit %d: %d endpoints, %d of them different, want %d", limit, len(ids), len(got), len(want))
			}
			if pages > 2+2*len(want)/limit {
				t.Errorf("limit %d: %d pages", limit, pages)
			}
		}
		if _, _, err := operate.Disable(t.Context(), d.pool, want[500:507], "n", 0); err != nil {
			t.Fatal(err)
		}
		ids, _ := walk(d, "&state=disabled", 3)
		if slices.Sort(ids); !slices.Equal(ids, want[500:507]) {
			t.Errorf("disabled are %v, want %v", ids, want[500:507])
		}
		for query, n := range map[string]int{"&state=disabled,candidate": 1003, "&state=disabled&state=candidate": 1003, "&state=eligible": 0, "&host=10.0.0.*": 256, "&source=p.txt": 1003, "&source=other": 0, "&reason=refused": 0} {
			if ids, _ := walk(d, query, 1000); len(ids) != n {
				t.Errorf("%s: %d, want %d", query, len(ids), n)
			}
		}
	})
}

// A cursor fits into a request, however long the ids are and however few are asked for.
func TestAWalkOfLongIDs(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, redis string) {
		d := serveOn(t, redis)
		list := make([]endpoint.Endpoint, 400)
		var want []string
		for i := range list {
			var err error
			if list[i], err = endpoint.Parse(fmt.Sprintf("http://%s%04d@10.0.0.1:80", strings.Repeat("u", 680), i)); err != nil {
				t.Fatal(err)
			}
			want = append(want, list[i].ID())
		}
		if _, err := scheduler.Enroll(t.Context(), d.pool, "file:/p.txt", record.BySource, list, 0); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		for _, limit := range []int{1, 3, 100} {
			ids, _ := walk(d, "", limit)
			if slices.Sort(ids); !slices.Equal(slices.Compact(ids), want) {
				t.Errorf("limit %d: %d endpoints, want %d", limit, len(ids), len(want))
			}
		}
		if _, _, err := operate.Disable(t.Context(), d.pool, want[7:9], "n", 0); err != nil {
			t.Fatal(err)
		}
		if ids, pages := walk(d, "&state=disabled", 1); len(ids) != 2 || pages > 10 {
			t.Errorf("%d disabled on %d pages, want 2", len(ids), pages)
		}
	})
}

// Endpoints that come and go do not make a walk lose those that stay.
func TestAWalkWhileThePoolChanges(t *testing.T) {
	d := serveOn(t, testenv.Redis(t))
	ids := d.enroll(2000)
	stay, cursor, met := ids[:1000], "", map[string]bool{}
	for n := 0; ; n++ {
		p := get[operate.Page](d, "/api/v1/checks/c/endpoints?limit=50&cursor="+cursor)
		for _, e := range p.Endpoints {
			met[e.Endpoint] = true
		}
		if cursor = p.Next; cursor == "" {
			break
		}
		if from := 1000 + 20*n; from < 2000 {
			if _, err := operate.Forget(t.Context(), d.pool, ids[from:from+20]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, id := range stay {
		if !met[id] {
			t.Errorf("%s was there all the while, and not met", id)
		}
	}
}

func TestBadQuestionsAreToldSo(t *testing.T) {
	d := serve(t)
	d.enroll(3)
	for path, c := range map[string]struct {
		status int
		part   string
	}{
		"/api/v1/checks/c/endpoints?limit=0":                       {400, "bad limit: use 1 to 1000"},
		"/api/v1/checks/c/endpoints?limit=1001":                    {400, "bad limit"},
		"/api/v1/checks/c/endpoints?limit=x":                       {400, "bad limit"},
		"/api/v1/checks/c/endpoints?cursor=zz":                     {400, "bad cursor"},
		"/api/v1/checks/c/endpoints?cursor=!":                      {400, "bad cursor"},
		"/api/v1/checks/c/endpoints?state=dead":                    {400, "no state"},
		"/api/v1/checks/c/endpoints?host=%5B":                      {400, "a bracket is open"},
		"/api/v1/checks/other/endpoints":                           {404, "no such check: there are c"},
		"/api/v1/checks/%2e%2e/endpoints":                          {404, "no such"},
		"/api/v1/checks/c/explain":                                 {400, "name the endpoint"},
		"/api/v1/checks/c/explain?endpoint=%20":                    {400, "is no endpoint"},
		"/api/v1/checks/c/explain?endpoint=http://1:2:3":           {400, "is no endpoint"},
		"/api/v1/checks/c/explain?endpoint=10.9.9.9:80":            {404, "no endpoint at 10.9.9.9:80"},
		"/api/v1/checks/c/explain?endpoint=http://a:1":             {404, "no list names it"},
		"/api/v1/checks/c/events?before=x":                         {400, "bad before"},
		"/api/v1/checks/c/events?before=18446744073709551616-0":    {400, "bad before"},
		"/api/v1/events?after=x":                                   {400, "bad Last-Event-ID"},
		"/api/v1/events?check=other":                               {404, "no such check"},
		"/api/v1/checks/c/events?after=1-0":                        {400, "unknown parameter: after; known are limit, before"},
		"/api/v1/checks/c/events?limit=1&limit=2":                  {400, "limit is given twice"},
		"/api/v1/checks/c/events?before=1-0&before=2-0":            {400, "before is given twice"},
		"/api/v1/checks/c/endpoints?states=cooling":                {400, "unknown parameter: states; known are state, source, host, reason, limit, cursor"},
		"/api/v1/checks/c/endpoints?state=cooling&cursor=&cursor=": {400, "cursor is given twice"},
		"/api/v1/checks/c/endpoints?http://a:canarypassword@b":     {400, "one whose name is no word; known"},
		"/api/v1/checks/c/endpoints?host=%zz":                      {400, "the query cannot be read"},
		"/api/v1/checks/c/endpoints?host=a;state=cooling":          {400, "the query cannot be read"},
		"/api/v1/status?check=c":                                   {400, "unknown parameter: check; this path takes none"},
		"/api/v1/events?check=c&check=c":                           {400, "check is given twice"},
		"/api/v2":                                                  {404, "openapi.json"},
		"/":                                                        {404, "no such path"},
	} {
		d.is(path, d.ask("GET", path, ""), c.status, c.part)
	}
	d.is("an order with a query", d.ask("POST", "/api/v1/checks/c/recheck?all=true", `{"all": true}`), 400, "unknown parameter: all")
	d.is("metrics with a query", d.ask("GET", "/metrics?a=b", ""), 200, "a_metric")
	r := d.ask("DELETE", "/api/v1/checks/c", "", "Content-Type", "application/json")
	if d.is("another method", r, 405, "takes GET, HEAD"); r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow: %q", r.Header.Get("Allow"))
	}
	for _, r := range []reply{d.ask("DELETE", "/api/v1/checks/c", ""), d.ask("PUT", "/api/v1/checks/c/disable", "x", "Content-Type", "text/plain")} {
		if d.is("another method, of no JSON", r, 405, "takes "+r.Header.Get("Allow")); r.Header.Get("Allow") == "" {
			t.Error("no Allow")
		}
	}
	d.is("an order by GET", d.ask("GET", "/api/v1/checks/c/disable", ""), 405, "takes POST")
}

func TestBadOrdersAreToldSo(t *testing.T) {
	d := serve(t)
	id := d.enroll(1)[0]
	const secret = "canarypassword"
	for body, part := range map[string]string{
		``:                   "name at least one endpoint",
		`{}`:                 "name at least one endpoint",
		`null`:               "name at least one endpoint",
		`{"all": true}`:      "all is for recheck",
		`[]`:                 "the body is a JSON object",
		`7`:                  "the body is a JSON object",
		`{"endpoints": "x"}`: "endpoints is a list of texts",
		`{"endpoints": ["http://a:1"], "priority": "high"}`:                                 "priority is a whole number from 0 to 99999",
		`{"endpoints": ["http://a:1"], "priority": 1.5}`:                                    "priority is a whole number from 0 to 99999",
		`{"filters": {"states": "cooling"}}`:                                                "filters.states is a list of texts",
		`{"filters": []}`:                                                                   "filters is an object",
		`{"endpoints": ["http://a:1"], "for": 5}`:                                           "for is a duration such as 2h",
		`{"endpoints": ["http://u:` + secret + `@x:99999"]}`:                                "argument 1 is no endpoint",
		`{"endpoints": ["u:` + secret + `@10.0.0.0:80"]}`:                                   "write it in full",
		`{"endpoints": ["http://a:1"], "filters": {"states": ["cooling"]}}`:                 "not both",
		`{"filters": {"states": ["` + secret + `!"]}}`:                                      "no state",
		`{"endpoints": ["http://a:1"], "` + secret + `": 1}`:                                "unknown field",
		`{"endpoints": ["http://a:1"]} {}`:                                                  "goes on after its object",
		`{"endpoints": ["http://a:1"]} x`:                                                   "no JSON at byte",
		`{"endpoints": ["http://a:1"], "for": "` + secret + `"}`:                            "duration such as 2h",
		`{"endpoints": ["http://a:1"], "for": "-2h"}`:                                       "over zero",
		`{"endpoints": ["http://a:1"], "priority": -1}`:                                     "use 0 to 99999",
		`{"endpoints": ["http://a:1"], "note": "` + strings.Repeat("x", noteBytes+1) + `"}`: "1000 bytes",
		`{"endpoints": ["`:                                                                  "the body is not what is asked for",
	} {
		r := d.ask("POST", "/api/v1/checks/c/disable", body)
		if d.is(body, r, 400, part); strings.Contains(r.body, secret) && !strings.Contains(body, "states") {
			t.Errorf("%s is repeated: %s", body, r.body)
		}
	}
	if s := get[operate.Story](d, "/api/v1/checks/c/explain?endpoint="+id); s.Record.State != record.Candidate {
		t.Errorf("something was done: %+v", s)
	}
}

func TestOrdersDoWhatTheCommandsDo(t *testing.T) {
	d := serve(t)
	ids := d.enroll(1200)
	order := func(what, body string) orderAnswer {
		t.Helper()
		r := d.ask("POST", "/api/v1/checks/c/"+what, body)
		d.is(what+body, r, 200, `"check":"c"`)
		var a orderAnswer
		json.Unmarshal([]byte(r.body), &a)
		return a
	}
	state := func(id string) record.Record {
		return get[operate.Story](d, "/api/v1/checks/c/explain?endpoint="+url.QueryEscape(id)).Record
	}
	a := order("disable", `{"endpoints": ["http://ann:pw@10.0.0.1:80", "http://10.99.0.1:80", "`+ids[1]+`"], "note": "why", "for": "2h"}`)
	if a.Counts["disabled"] != 1 || a.Counts["unknown"] != 2 || a.Outcomes[0].Endpoint != "http://ann@10.0.0.1:80" {
		t.Errorf("%+v", a)
	}
	if r := state(ids[1]); r.State != record.Disabled || r.Note != "why" || r.HoldUntilMs < time.Now().Add(time.Hour).UnixMilli() {
		t.Errorf("%+v", r)
	}
	if a := order("enable", `{"filters": {"states": ["disabled"]}}`); a.Counts["enabled"] != 1 {
		t.Errorf("%+v", a)
	}
	if a := order("recheck", `{"all": true, "priority": 7}`); a.Counts["queued"] != 1200 || len(a.Outcomes) != 1000 || a.Omitted != 200 {
		t.Errorf("%v, %d outcomes, %d omitted", a.Counts, len(a.Outcomes), a.Omitted)
	}
	if a := order("recheck", `{"endpoints": ["`+ids[3]+`"]}`); a.Counts["waiting"] != 1 {
		t.Errorf("%+v", a)
	}
	if a := order("forget", `{"filters": {"hosts": ["10.0.0.*"]}}`); a.Counts["forgotten"] != 256 {
		t.Errorf("%v", a.Counts)
	}
	if ids, _ := walk(d, "", 1000); len(ids) != 1200-256 {
		t.Errorf("%d are left", len(ids))
	}
}

func TestNoListTellsItsPassword(t *testing.T) {
	d := serve(t)
	d.Lists.Good("c", operate.SourceName(scheduler.Source{File: "/p.txt"}), 12)
	d.Lists.Bad("c", "url:https://lists.example/x")
	for _, path := range []string{"/api/v1/checks", "/api/v1/checks/c/sources"} {
		r := d.ask("GET", path, "")
		if d.is(path, r, 200, "url:https://lists.example/x"); strings.Contains(r.body, "canary") || strings.Contains(r.body, "ann") {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	all := get[struct{ Sources []source }](d, "/api/v1/checks/c/sources").Sources
	if len(all) != 2 || all[0].Endpoints != 12 || all[0].LastSuccessMs == 0 || all[1].Failures != 1 || all[1].Scheme != "socks5" {
		t.Errorf("%+v", all)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	daemon := &fakeDaemon{heard: make(chan struct{})}
	redis := testenv.NewServer(t)
	d := serveOn(t, redis.URL, func(o *Options) { o.Daemon = daemon })
	d.is("before Redis answered", d.ask("GET", "/readyz", ""), 503, "not answered yet")
	d.is("but it lives", d.ask("GET", "/healthz", ""), 200, "ok")
	close(daemon.heard)
	d.is("ready", d.ask("GET", "/readyz", ""), 200, "ready")
	redis.Kill()
	d.is("without Redis", d.ask("GET", "/readyz", ""), 503, "redis does not answer")
	d.is("but it lives", d.ask("GET", "/healthz", ""), 200, "ok")
	r := d.ask("GET", "/api/v1/status", "")
	if d.is("a question without Redis", r, 503, "no Redis answers"); r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	redis.Start()
	d.is("ready again", d.ask("GET", "/readyz", ""), 200, "ready")
	d.Stopping()
	d.is("while it stops", d.ask("GET", "/readyz", ""), 503, "stops")
	daemon.stuck = true
	d.is("stuck", d.ask("GET", "/healthz", ""), 503, "no tick")
}
