package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// The curl lines of docs/admin.md are run as they stand, but for the address, the token's file
// and the socket.
func TestTheExamplesOfTheDocumentationWork(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "curl")
	text, err := os.ReadFile("../../docs/admin.md")
	if err != nil {
		t.Fatal(err)
	}
	farm, redis := testenv.NewFarm(t, 2), testenv.Redis(t)
	list := farm.ID(0) + "\n" + farm.ID(1) + "\n"
	socket := filepath.Join(t.TempDir(), "admin.sock")
	open, locked := withAdmin(t, redis, list, `{listen: "127.0.0.1:0"}`), withAdmin(t, redis, list, locked)
	withAdmin(t, redis, list, `{listen: "unix:`+socket+`"}`)
	testenv.Eventually(t, 15*time.Second, "2 eligible", func() bool {
		return open.metric(`proxyward_endpoints{check="catalogue",state="eligible"}`) == 2
	})
	ran := 0
	for line := range strings.Lines(string(text)) {
		command, is := strings.CutPrefix(line, "    curl ")
		if !is {
			continue
		}
		base := open.base
		if strings.Contains(command, "admin-token") {
			base = locked.base
		}
		command = strings.NewReplacer("http://127.0.0.1:9180", base, "/etc/proxyward/admin-token", locked.token,
			"/run/proxyward/admin.sock", socket, "http://192.0.2.1:8080", farm.ID(0), "curl ", "curl --max-time 20 ").Replace("curl " + strings.TrimSpace(command))
		if strings.Contains(command, "/events") && !strings.Contains(command, "limit=") { // it does not end by itself
			command = strings.Replace(command, "--max-time 20", "--max-time 2", 1) + " || test $? = 28"
		}
		o := run(t, "/bin/sh", "-c", command)
		if ran++; o.code != 0 || strings.TrimSpace(o.out) == "" {
			t.Errorf("%s: exit status %d\n%s%s", command, o.code, o.out, o.err)
		}
	}
	if ran < 10 {
		t.Errorf("%d examples", ran)
	}
}
