package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
)

// machine is a booted systemd with this machine's /usr and loopback, for one test.
type machine struct {
	t   *testing.T
	dir string
}

const bootScript = "../../systemd/boot"

// boot starts one; it takes root, and Debian's systemd-container.
func boot(t *testing.T) *machine {
	t.Helper()
	needRoot(t)
	testenv.Program(t, "systemd-nspawn")
	m := &machine{t, filepath.Join(t.TempDir(), "machine")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the journal says:\n%s", end(run(t, bootScript, "run", m.dir, "journalctl", "--no-pager", "-o", "short-precise", "-n", "60").out))
		}
		if o := run(t, bootScript, "down", m.dir); o.code != 0 {
			t.Errorf("power off: %s%s", o.out, o.err)
		}
	})
	if o := run(t, bootScript, "up", m.dir); o.code != 0 {
		t.Fatalf("boot: %s%s", o.out, o.err)
	}
	return m
}

// needRoot skips the test, or fails it where everything is required.
func needRoot(t *testing.T) {
	t.Helper()
	switch {
	case runtime.GOOS == "linux" && os.Getuid() == 0:
	case os.Getenv("PROXYWARD_REQUIRE") != "":
		t.Fatal("this takes root, and PROXYWARD_REQUIRE is set")
	default:
		t.Skip("this takes root")
	}
}

// try executes a command in the machine.
func (m *machine) try(args ...string) outcome {
	m.t.Helper()
	return run(m.t, bootScript, append([]string{"run", m.dir}, args...)...)
}

// run executes a command that must succeed.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	o := m.try(args...)
	if o.code != 0 {
		m.t.Fatalf("%s: exit status %d\n%s%s", strings.Join(args, " "), o.code, o.out, o.err)
	}
	return strings.TrimSuffix(o.out, "\n")
}

// put copies a file into the machine.
func (m *machine) put(from, to string) {
	m.t.Helper()
	if o := run(m.t, bootScript, "put", m.dir, from, to); o.code != 0 {
		m.t.Fatalf("put %s: %s%s", to, o.out, o.err)
	}
}

// write makes a file of root's own and keeps the mode of one that is there.
func (m *machine) write(path, text string) {
	m.t.Helper()
	at := file(m.t, "text", text)
	m.put(at, "/tmp/text")
	m.run("sh", "-c", `umask 077; mkdir -p "$(dirname "$1")"; cat /tmp/text > "$1"`, "sh", path)
}

// unit writes a drop-in for the service and makes systemd read it.
func (m *machine) unit(lines ...string) {
	m.t.Helper()
	m.write("/etc/systemd/system/proxyward.service.d/test.conf", "[Service]\n"+strings.Join(lines, "\n")+"\n")
	m.run("systemctl", "daemon-reload")
}

// install puts a package in, as a person does.
func (m *machine) install(deb string) {
	m.t.Helper()
	m.put(deb, "/tmp/proxyward.deb")
	m.run("dpkg", "-i", "/tmp/proxyward.deb")
}

// prop is a property of the service.
func (m *machine) prop(name string) string {
	m.t.Helper()
	return m.run("systemctl", "show", "--property", name, "--value", "proxyward.service")
}

// becomes waits for a property that contains a text.
func (m *machine) becomes(name, text string) {
	m.t.Helper()
	got := ""
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if got = m.prop(name); strings.Contains(got, text) {
			return
		}
		if time.Now().After(end) {
			m.t.Fatalf("%s is %q, not %q", name, got, text)
		}
	}
}

// journal is what the service and systemd said of it; args choose.
func (m *machine) journal(args ...string) string {
	m.t.Helper()
	return m.run(append([]string{"journalctl", "--no-pager", "-u", "proxyward.service"}, args...)...)
}

// says waits for words in the journal.
func (m *machine) says(words string) {
	m.t.Helper()
	testenv.Eventually(m.t, time.Minute, "the journal says "+words, func() bool { return strings.Contains(m.journal("-o", "cat"), words) })
}

// package builds

type debs struct{ older, newer, again string }

// build makes packages once for all tests: 0.1.0, 0.2.0, and 0.1.0 again in another folder.
var build = sync.OnceValues(func() (debs, error) {
	dir := filepath.Dir(binary)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "another", "folder")
	for _, to := range []string{a, b} {
		if err := command("../..", "sh", "-c", `mkdir -p "$1" && git ls-files -co --exclude-standard -z | tar --null -T - -c | tar -x -C "$1"`, "sh", to); err != nil {
			return debs{}, err
		}
	}
	made := debs{}
	for _, one := range []struct {
		sources, version, to string
		path                 *string
	}{{a, "0.1.0", "older", &made.older}, {b, "0.1.0", "again", &made.again}, {b, "0.2.0", "newer", &made.newer}} {
		to := filepath.Join(dir, one.to)
		if err := command(one.sources, "env", "SOURCE_DATE_EPOCH=1767225600", "REVISION=0123456789abcdef0123456789abcdef01234567", "packaging/build", one.version, to); err != nil {
			return debs{}, err
		}
		*one.path = filepath.Join(to, fmt.Sprintf("proxyward_%s-1_%s.deb", one.version, runtime.GOARCH))
	}
	return made, nil
})

// command executes a program in a folder; it may take minutes.
func command(dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func packages(t *testing.T) debs {
	t.Helper()
	needRoot(t)
	testenv.Program(t, "dpkg-deb")
	made, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

const serviceYAML = `
redis: {url: "${file:proxyward.redis-url}", username: ward, password_file: proxyward.redis-password}
admin: {listen: "unix:/run/proxyward/admin.sock", token_file: proxyward.admin-token}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 10s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: proxies.txt, refresh: "@every 1s"}]
    recheck: 1s
`

const (
	servicePassword = "s3cret:/@only-in-tests"
	serviceToken    = "0123456789abcdef-only-in-tests"
)

// wardOnly are redis-server's arguments for a server that wants the service's password.
var wardOnly = []string{"--user", "default", "off", "--user", "ward", "on", ">" + servicePassword, "~*", "&*", "+@all"}

// wardClient is a client that knows the service's password.
func wardClient(t *testing.T, server string) *redis.Client {
	t.Helper()
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword("ward", servicePassword)
	return testenv.Client(t, at.String())
}

// serve installs a package and writes what a service with a farm of n proxies needs.
func (m *machine) serve(deb, redis string, farm *testenv.Farm, n int) (config string) {
	m.t.Helper()
	m.install(deb)
	config = serviceYAML
	list := ""
	for i := range n {
		list += farm.ID(i) + "\n"
	}
	m.write("/etc/proxyward/proxyward.yaml", config)
	m.write("/etc/proxyward/proxies.txt", list)
	m.run("chmod", "640", "/etc/proxyward/proxies.txt")
	m.write("/etc/credstore/proxyward.redis-url", redis)
	m.write("/etc/credstore/proxyward.redis-password", servicePassword+"\n")
	m.write("/etc/credstore/proxyward.admin-token", serviceToken+"\n")
	return config
}

// admin asks the service's interface, through its socket.
func (m *machine) admin(path, token string) (status int) {
	m.t.Helper()
	leader, err := os.ReadFile(filepath.Join(m.dir, "leader"))
	if err != nil {
		m.t.Fatal(err)
	}
	socket := "/proc/" + strings.TrimSpace(string(leader)) + "/root/run/proxyward/admin.sock"
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	ask, _ := http.NewRequestWithContext(m.t.Context(), http.MethodGet, "http://proxyward"+path, nil)
	if token != "" {
		ask.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := transport.RoundTrip(ask)
	if err != nil {
		m.t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// wardCLI executes a command of the package's program with the service's configuration.
func (m *machine) wardCLI(args ...string) outcome {
	m.t.Helper()
	return m.try(append([]string{"env", "CREDENTIALS_DIRECTORY=/etc/credstore", "proxyward", args[0], "--config", "/etc/proxyward/proxyward.yaml"}, args[1:]...)...)
}
