package checks_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
	"proxyward/internal/zoo"
)

// TestMain looks for goroutines left behind and, after a whole run, for rows of the table
// whose verdict no test has seen.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if err := goleak.Find(); err != nil {
		fmt.Println(err)
		code = 1
	}
	if code == 0 && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" {
		code = unseenRows()
	}
	os.Exit(code)
}

var (
	seenMu sync.Mutex
	seen   = map[string]bool{}
)

func saw(v verdict.Verdict) {
	seenMu.Lock()
	seen[says(v)] = true
	seenMu.Unlock()
}

func unseenRows() (code int) {
	for _, e := range verdict.Table {
		for _, s := range e.Stages {
			row := string(s) + " " + string(e.Reason) + " " + string(e.Blame)
			if !seen[row] && cannotOccur[string(s)+" "+string(e.Reason)] == "" {
				fmt.Printf("no test has seen %s (event %s)\n", row, e.Name)
				code = 1
			}
		}
	}
	return code
}

// request is a spec of one step for a URL with short deadlines.
func request(url string) checks.Spec {
	return checks.Spec{Name: "test", Steps: []checks.Step{{Request: checks.Request{URL: url, Timeout: 5 * time.Second}}}}
}

// hurried is a spec for peers that are meant to be too slow.
func hurried(url string) checks.Spec {
	s := request(url)
	s.Steps[0].Request.Timeouts = checks.Timeouts{Connect: 80 * time.Millisecond, Handshake: 80 * time.Millisecond, FirstByte: 80 * time.Millisecond}
	s.Steps[0].Request.Timeout = 300 * time.Millisecond
	return s
}

// secure is request for an https URL of a site, trusting its CA.
func secure(t *testing.T, site *zoo.Site, url string) checks.Spec {
	s := request(url)
	s.Steps[0].Request.TLS.CAFile = site.CA.File(t, t.TempDir())
	return s
}

func compile(t *testing.T, s checks.Spec) *checks.Check {
	t.Helper()
	c, err := checks.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func run(t *testing.T, s checks.Spec, proxy string) verdict.Verdict {
	t.Helper()
	return runWith(t, s, proxy, checks.RunOptions{})
}

func runWith(t *testing.T, s checks.Spec, proxy string, o checks.RunOptions) verdict.Verdict {
	t.Helper()
	ep, err := endpoint.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	c := compile(t, s)
	begin := time.Now()
	v := c.Run(context.Background(), ep, o)
	// A probe that was held up itself may go on for a second; see late.go.
	if took := time.Since(begin); took > c.Timeout()+1250*time.Millisecond {
		t.Errorf("took %s of %s", took, c.Timeout())
	}
	if len(v.Detail) > verdict.MaxDetail {
		t.Errorf("detail too long: %q", v.Detail)
	}
	return v
}

// says is a verdict in short: "pass", or "stage reason blame".
func says(v verdict.Verdict) string {
	if v.Passed {
		return "pass"
	}
	return string(v.Stage) + " " + string(v.Reason) + " " + string(v.Blame)
}

func want(t *testing.T, v verdict.Verdict, expected string) {
	t.Helper()
	saw(v)
	if says(v) != expected {
		t.Errorf("got  %s (%s)\nwant %s", says(v), v.Detail, expected)
	}
}

func mustParse(t *testing.T, proxy string) endpoint.Endpoint {
	t.Helper()
	ep, err := endpoint.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	return ep
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}
