package cli

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/embedded"
	"proxyward/internal/testenv"
	"proxyward/store"
)

// What workers do is seen by who looks: their live jobs, and what they reported.
func TestLiveJobsAndReportsAreShown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(answerGood)}
	defer server.Close()
	go server.Serve(l)
	inside, err := embedded.Start("embedded://127.0.0.1:0", embedded.Login{})
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	at, id := "redis://"+inside.Addr()+"/0", "http://"+l.Addr().String()
	config := listFile(t, `
redis: {url: "`+at+`"}
admin: {listen: ""}
checks:
  - name: c
    request: {url: "http://target.example/"}
    endpoints: [{file: "`+listFile(t, id)+`"}]
    jobs: true
`)
	daemon := start(t, "run", "--config", config)
	show := func(args ...string) string { return oneShot(t, append(args, "--config", config)...) }
	testenv.Eventually(t, 20*time.Second, "it is eligible", func() bool { return strings.Contains(show("endpoints"), "eligible") })
	if out := show("endpoints"); strings.Contains(out, "JOBS") {
		t.Errorf("a column for nothing:\n%s", out)
	}

	st, err := store.Open(store.Address{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for range 2 {
		if _, ok, err := st.Pool("c").Acquire(t.Context(), time.Hour, 0); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	client := redis.NewClient(&redis.Options{Addr: inside.Addr()})
	defer client.Close()
	report := func(worker string) {
		t.Helper()
		if err := client.XAdd(t.Context(), &redis.XAddArgs{Stream: "proxyward:{c}:reports", Values: []any{"endpoint", id, "outcome", "failed",
			"stage", "connect", "reason", "refused", "worker", worker, "at_ms", ""}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(words string, args ...string) {
		t.Helper()
		out := ""
		testenv.Eventually(t, 20*time.Second, strings.Join(args, " ")+" says "+words, func() bool {
			out = show(args...)
			return strings.Contains(out, words)
		})
	}
	shows("2 live jobs", "status")
	shows(`"jobs":2`, "status", "--json")
	shows("JOBS", "endpoints")
	shows(`"jobs":2`, "endpoints", "--json")
	shows("2 live", "explain", id)
	report("w1")
	shows("1 bad one by 1 worker", "explain", id)
	shows(`"reports":{"failed":1,"workers":1,`, "explain", id, "--json")
	report("w1")
	report("w2")
	shows("workers' reports asked for a probe", "explain", id)
	if code := daemon.end(); code != exitYes {
		t.Errorf("the daemon ended with %d", code)
	}
}
