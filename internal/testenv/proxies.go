package testenv

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The one login that every proxy with a login knows.
const (
	User     = "ann"
	Password = "horse-battery.9"

	// passwordHash is Password as crypt(3) has it.
	passwordHash = "$6$proxyward$FCknqfRudgL6ZMWbR7pLGIqWDu2SbdnmjbqCwe3Ymbli1W.r.y50q8IxctuPWTr8Yj5CK4LoK2771S1pKDSGD."
)

// Proxy is a running proxy of somebody else's making.
type Proxy struct {
	Scheme string // as it is best reached: http or socks5h
	Addr   string // host:port
	Login  bool
}

// ProxyOptions say how a proxy is set up.
type ProxyOptions struct {
	Login bool     // it wants User and Password
	More  []string // lines for its configuration file; for microsocks, arguments
}

// URL is where the proxy is, with the right login if it wants one.
func (p Proxy) URL() string {
	if p.Login {
		return p.As(User, Password)
	}
	return p.Scheme + "://" + p.Addr
}

// As is where the proxy is, with some login.
func (p Proxy) As(user, password string) string {
	return (&url.URL{Scheme: p.Scheme, User: url.UserPassword(user, password), Host: p.Addr}).String()
}

// ID is the endpoint id of URL.
func (p Proxy) ID() string { return WithoutPassword(p.URL()) }

// WithoutPassword is the endpoint id of a URL that needs no other changes.
func WithoutPassword(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err)
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}

// Squid is Debian's squid. More comes before its last rule, which allows everything.
func Squid(t testing.TB, o ProxyOptions) Proxy {
	t.Helper()
	path, dir := Program(t, "squid"), folder(t)
	host, port := Address(t)
	lines := []string{
		fmt.Sprintf("http_port %s:%d", host, port),
		"visible_hostname squid.test",
		"pid_filename none",
		"cache deny all",
		"access_log none",
		"cache_log /dev/null",
		"pinger_enable off",
		"max_filedescriptors 1024",
		"coredump_dir " + dir,
		"shutdown_lifetime 0 seconds",
		"connect_timeout 3 seconds",
	}
	if o.Login {
		program := Program(t, "/usr/lib/squid/basic_ncsa_auth")
		write(t, dir, "users", User+":"+passwordHash+"\n")
		lines = append(lines, "auth_param basic program "+program+" "+filepath.Join(dir, "users"),
			"auth_param basic children 2",
			"acl known proxy_auth REQUIRED",
			"http_access deny !known")
	}
	lines = append(append(lines, o.More...), "http_access allow all")
	file := write(t, dir, "squid.conf", strings.Join(lines, "\n")+"\n")
	// -n: a name of its own, so that several do not meet in shared memory.
	Start(t, path, "-N", "-d", "1", "-n", fmt.Sprintf("t%dx%d", os.Getpid(), port), "-f", file)
	return ready(t, "http", host, port, o)
}

// Tinyproxy is Debian's tinyproxy.
func Tinyproxy(t testing.TB, o ProxyOptions) Proxy {
	t.Helper()
	path, dir := Program(t, "tinyproxy"), folder(t)
	host, port := Address(t)
	lines := []string{fmt.Sprintf("Port %d", port), "Listen " + host, "Timeout 10", "MaxClients 50", "LogLevel Warning"}
	if o.Login {
		lines = append(lines, "BasicAuth "+User+" "+Password)
	}
	file := write(t, dir, "tinyproxy.conf", strings.Join(append(lines, o.More...), "\n")+"\n")
	Start(t, path, "-d", "-c", file)
	return ready(t, "http", host, port, o)
}

// Microsocks is Debian's microsocks.
func Microsocks(t testing.TB, o ProxyOptions) Proxy {
	t.Helper()
	path := Program(t, "microsocks")
	host, port := Address(t)
	args := []string{"-i", host, "-p", fmt.Sprint(port)}
	if o.Login {
		args = append(args, "-u", User, "-P", Password)
	}
	Start(t, path, append(args, o.More...)...)
	return ready(t, "socks5h", host, port, o)
}

// Dante is Debian's danted. It knows only the system's users; with a login it is shown a
// list of users of our own by way of libnss-wrapper. More are rules before its last one,
// which passes everything.
func Dante(t testing.TB, o ProxyOptions) Proxy {
	t.Helper()
	path, dir := Program(t, "danted"), folder(t)
	host, port := Address(t)
	method, as := "none", ""
	command := []string{path}
	if o.Login {
		method = "username"
		command = append(strangers(t, dir), path)
	}
	if os.Getuid() == 0 {
		as = "user.privileged: root\nuser.unprivileged: nobody\n"
	}
	file := write(t, dir, "danted.conf", fmt.Sprintf(`logoutput: stderr
internal: %s port = %d
external: 127.0.0.1
clientmethod: none
socksmethod: %s
%sclient pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
%s
socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
`, host, port, method, as, strings.Join(o.More, "\n")))
	command = append(command, "-f", file, "-p", filepath.Join(dir, "pid"))
	Start(t, Program(t, command[0]), command[1:]...)
	return ready(t, "socks5h", host, port, o)
}

// strangers is the start of a command line that gives a program users of our own.
func strangers(t testing.TB, dir string) []string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/*/libnss_wrapper.so")
	if len(found) == 0 {
		Missing(t, "libnss-wrapper")
	}
	return []string{"env", "LD_PRELOAD=" + found[0],
		"NSS_WRAPPER_PASSWD=" + write(t, dir, "passwd", "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"+User+":x:54321:54321::/:/bin/false\n"),
		"NSS_WRAPPER_GROUP=" + write(t, dir, "group", "root:x:0:\nnogroup:x:65534:\n"+User+":x:54321:\n"),
		"NSS_WRAPPER_SHADOW=" + write(t, dir, "shadow", User+":"+passwordHash+":19000:0:99999:7:::\n"),
	}
}

// Missing skips the test, or fails it where nothing may be missing.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("PROXYWARD_REQUIRE") != "" {
		t.Fatalf("%s is not installed, and PROXYWARD_REQUIRE is set", what)
	}
	t.Skipf("%s is not installed", what)
}

func ready(t testing.TB, scheme, host string, port int, o ProxyOptions) Proxy {
	t.Helper()
	p := Proxy{Scheme: scheme, Addr: fmt.Sprintf("%s:%d", host, port), Login: o.Login}
	WaitTCP(t, p.Addr)
	return p
}

// folder is one that other users may look into: servers started by root change to theirs.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "proxyward-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func write(t testing.TB, dir, name, text string) (file string) {
	t.Helper()
	file = filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
