package e2e_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	worker "proxyward/examples/go"
	"proxyward/internal/testenv"
)

// Each kit finds the master by its sentinels, takes a proxy, and, after that master was killed,
// another from the new one, without a restart. All is counted there.
func TestTheKitsFollowSentinels(t *testing.T) {
	t.Parallel()
	py, js := python(t, "redis"), node(t)
	testenv.Program(t, "redis-cli")
	servers, sentinels := testenv.Sentinels(t)
	addrs := testenv.Addrs(sentinels)
	key := "proxyward:{c}:eligible"
	master := testenv.Master(t, sentinels[0], servers)
	servers[master].Do(t, "zadd", key, 0, "http://192.0.2.1:8080", 0, "http://192.0.2.2:8080", 0, "http://192.0.2.3:8080", 0, "http://192.0.2.4:8080")
	take := []func() string{goBySentinels(t, addrs)}
	for kit, command := range map[string][]string{
		"python": {py, "testdata/sentinel/take.py"},
		"node":   {js, "testdata/sentinel/take.mjs"},
		"shell":  {"/bin/sh", "testdata/sentinel/take.sh"},
	} {
		take = append(take, ask(t, []string{"CHECK=c", "MASTER=" + testenv.SentinelMaster, "PROXYWARD_LUA=" + whole(t, "../../store/lua"),
			"KIT=" + whole(t, "../../examples/"+kit)}, append(command, addrs...)...))
	}
	all := func() {
		t.Helper()
		taken := map[string]bool{}
		for _, f := range take {
			taken[f()] = true
		}
		if len(taken) != 4 {
			t.Errorf("four took %v", taken)
		}
	}
	all()
	for i := range servers {
		testenv.Eventually(t, 10*time.Second, "replicated", func() bool { return strings.Count(servers[i].Do(t, "zrange", key, 1, 1, "byscore"), "http") == 4 })
	}
	servers[master].Kill()
	all()
	now := servers[testenv.Master(t, sentinels[0], servers)]
	if got := now.Do(t, "zrange", key, 0, -1, "withscores"); strings.Count(got, " 2") != 4 {
		t.Errorf("the new master has %s", got)
	}
}

// goBySentinels is the Go kit's part.
func goBySentinels(t *testing.T, addrs []string) (take func() string) {
	t.Helper()
	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: testenv.SentinelMaster, SentinelAddrs: addrs, MaxRetries: -1})
	t.Cleanup(func() { client.Close() })
	pool, err := worker.New(client, os.DirFS("../../store/lua"), worker.Config{Check: "c"})
	if err != nil {
		t.Fatal(err)
	}
	return func() (id string) {
		testenv.Eventually(t, 40*time.Second, "the Go kit takes a proxy", func() bool {
			lease, err := pool.Lease(t.Context())
			if err == nil {
				id = lease.Endpoint
			}
			return err == nil
		})
		return id
	}
}

// ask starts a program that answers a line to a line.
func ask(t *testing.T, env []string, command ...string) (answer func() string) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", strings.Join(command, " "), err)
		}
	})
	lines := bufio.NewReader(out)
	return func() string {
		t.Helper()
		timer := time.AfterFunc(40*time.Second, func() { cmd.Process.Kill() })
		defer timer.Stop()
		io.WriteString(in, "\n")
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%s: %v", strings.Join(command, " "), err)
		}
		return strings.TrimSpace(line)
	}
}
