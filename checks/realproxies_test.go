package checks_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"proxyward/checks"
	"proxyward/checks/verdict"
	"proxyward/internal/zoo"
)

// real starts an installed proxy. Where it is not installed the test is skipped, unless
// PROXYWARD_REAL=required, as in CI.
type real struct {
	name, port, dir string
}

func startReal(t *testing.T, binary string, files func(r real) map[string]string, args func(r real) []string) string {
	t.Helper()
	path, err := exec.LookPath(binary)
	if err != nil {
		if os.Getenv("PROXYWARD_REAL") == "required" {
			t.Fatalf("%s is not installed", binary)
		}
		t.Skipf("%s is not installed; CI has it", binary)
	}
	dir, err := os.MkdirTemp("", "real")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o777)
	r := real{binary, fmt.Sprint(zoo.Refused(t).Port()), dir}
	for name, text := range files(r) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(path, args(r)...)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		gone := time.AfterFunc(300*time.Millisecond, func() { cmd.Process.Kill() })
		cmd.Wait()
		gone.Stop()
	})
	addr := "127.0.0.1:" + r.port
	for range 200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return addr
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("%s does not listen:\n%s", binary, log.String())
	return ""
}

// realCases are what a probe must say of one real proxy.
type realCase struct{ name, proxy, url, want string }

func realCases(t *testing.T, site *zoo.Site, list []realCase) {
	t.Helper()
	caFile := site.CA.File(t, t.TempDir())
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			s := request(c.url)
			s.Steps[0].Request.TLS.CAFile = caFile
			s.Steps[0].Request.ProxyTLS.CAFile = caFile
			if strings.Contains(c.name, "silent") {
				s.Steps[0].Request.Timeouts = checks.Timeouts{Handshake: 400 * time.Millisecond, FirstByte: 400 * time.Millisecond}
			}
			v := run(t, s, c.proxy)
			for i := 0; i < 3 && v.Blame == verdict.Local; i++ { // the machine was too busy
				v = run(t, s, c.proxy)
			}
			want(t, v, c.want)
		})
	}
}

type places struct{ http, https, refusedHTTP, refusedHTTPS, silent, silentTLS string }

func targetPlaces(t *testing.T, site *zoo.Site) places {
	gone, silent := zoo.Refused(t).String(), zoo.Serve(t, zoo.Silent).Addr.String()
	return places{"http://" + site.Plain.Addr.String() + "/", "https://" + site.TLS.Addr.String() + "/",
		"http://" + gone + "/", "https://" + gone + "/", "http://" + silent + "/", "https://" + silent + "/"}
}

func squid(t *testing.T, more string) string { return squidOn(t, "http_port 127.0.0.1:PORT", "", more) }

func squidOn(t *testing.T, port, pem, more string) string {
	return startReal(t, "squid", func(r real) map[string]string {
		return map[string]string{
			"pem":   pem,
			"login": "#!/bin/sh\nwhile read u p x; do if [ \"$u $p\" = 'ann secret' ]; then echo OK; else echo ERR; fi; done\n",
			"conf": strings.NewReplacer("DIR", r.dir, "PORT", r.port).Replace(port + `
pid_filename none
cache deny all
access_log none
cache_log DIR/cache.log
coredump_dir DIR
shutdown_lifetime 0 seconds
connect_timeout 2 seconds
acl blocked dstdomain blocked.example
http_access deny blocked
` + more + "\nhttp_access allow all\n"),
		}
	}, func(r real) []string { return []string{"-N", "-n", "z" + r.port, "-f", r.dir + "/conf"} })
}

func TestRealSquid(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	at := targetPlaces(t, site)
	open := squid(t, "")
	login := squid(t, "auth_param basic program /bin/sh DIR/login\nauth_param basic children 1\nacl known proxy_auth REQUIRED\nhttp_access deny !known")
	realCases(t, site, []realCase{
		{"http", "http://" + open, at.http, "pass"},
		{"https", "http://" + open, at.https, "pass"},
		{"denied http", "http://" + open, "http://blocked.example/", "tunnel forbidden proxy"},
		{"denied https", "http://" + open, "https://blocked.example/", "tunnel forbidden proxy"},
		{"target refuses http", "http://" + open, at.refusedHTTP, "tunnel upstream_refused target"},
		{"target refuses https", "http://" + open, at.refusedHTTPS, "tunnel upstream_refused target"},
		{"silent target http", "http://" + open, at.silent, "headers timeout unknown"},
		{"silent target https", "http://" + open, at.silentTLS, "target_tls timeout unknown"},
		{"login http", "http://ann:secret@" + login, at.http, "pass"},
		{"login https", "http://ann:secret@" + login, at.https, "pass"},
		{"wrong login http", "http://ann:wrong@" + login, at.http, "proxy_auth auth_rejected credentials"},
		{"wrong login https", "http://ann:wrong@" + login, at.https, "proxy_auth auth_rejected credentials"},
		{"no login http", "http://" + login, at.http, "proxy_auth auth_required credentials"},
		{"no login https", "http://" + login, at.https, "proxy_auth auth_required credentials"},
		// It waits for the rest of a request line: nothing on the wire tells its protocol.
		{"socks5 scheme, silent", "socks5h://" + open, at.http, "tunnel timeout proxy"},
		{"https scheme", "https://" + open, at.http, "proxy_tls not_tls proxy"},
	})
}

func TestRealSquidKnowsNoSuchName(t *testing.T) {
	t.Parallel()
	names, ok := zoo.NoNames(t)
	if !ok {
		t.Skip("port 53 is not to be had; CI has it")
	}
	proxy := squid(t, "dns_nameservers "+names)
	// Squid 5.7 has lost the reason by the time it writes the page (ERR_READ_ERROR 0 for GET,
	// ERR_CANNOT_FORWARD for CONNECT); older and newer ones say ERR_DNS_FAIL.
	for scheme, less := range map[string]string{"http": "tunnel upstream_error target", "https": "tunnel upstream_error unknown"} {
		v := run(t, request(scheme+"://nowhere.example/"), "http://"+proxy)
		if says(v) != "tunnel upstream_dns target" && says(v) != less {
			t.Errorf("%s: %s (%s)", scheme, says(v), v.Detail)
		}
	}
}

// The port at which squid itself speaks TLS to its clients.
func TestRealSquidTLSPort(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	at := targetPlaces(t, site)
	proxy := squidOn(t, "https_port 127.0.0.1:PORT tls-cert=DIR/pem", site.CA.KeyPair(t, "127.0.0.1"), "")
	realCases(t, site, []realCase{
		{"http", "https://" + proxy, at.http, "pass"},
		{"https", "https://" + proxy, at.https, "pass"},
		{"denied", "https://" + proxy, "https://blocked.example/", "tunnel forbidden proxy"},
		{"target refuses", "https://" + proxy, at.refusedHTTP, "tunnel upstream_refused target"},
		{"silent target", "https://" + proxy, at.silentTLS, "target_tls timeout unknown"},
	})
	s := request(at.https)
	want(t, run(t, s, "https://"+proxy), "proxy_tls cert_untrusted proxy")
	for _, url := range []string{at.http, at.https} { // its alert tells
		want(t, run(t, request(url), "http://"+proxy), "tunnel protocol_mismatch proxy")
	}
}

// A squid that opens the TLS of its clients with a CA of its own. PROXYWARD_SQUID_BUMP is the
// folder in which Debian's squid-openssl was unpacked: the package cannot stand beside squid.
func TestRealSquidThatOpensTLS(t *testing.T) {
	t.Parallel()
	root := os.Getenv("PROXYWARD_SQUID_BUMP")
	if root == "" {
		if os.Getenv("PROXYWARD_REAL") == "required" {
			t.Fatal("PROXYWARD_SQUID_BUMP is not set")
		}
		t.Skip("squid-openssl is not unpacked here; CI has it")
	}
	site, own := zoo.Target(t, nil), zoo.NewCA(t, "the office's CA")
	at := targetPlaces(t, site)
	certgen := root + "/usr/lib/squid/security_file_certgen"
	var db string
	proxy := startReal(t, root+"/usr/sbin/squid", func(r real) map[string]string {
		db = filepath.Join(r.dir, "certs")
		if out, err := exec.Command(certgen, "-c", "-s", db, "-M", "4MB").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		exec.Command("chmod", "-R", "a+rwX", db).Run()
		return map[string]string{"hosts": "127.0.0.1 " + zoo.Name + "\n", "pem": own.OwnKeyPair(t), "target.pem": string(site.CA.PEM), "conf": strings.NewReplacer("DIR", r.dir, "PORT", r.port, "CERTGEN", certgen).Replace(`
hosts_file DIR/hosts
http_port 127.0.0.1:PORT ssl-bump tls-cert=DIR/pem generate-host-certificates=on dynamic_cert_mem_cache_size=1MB
sslcrtd_program CERTGEN -s DIR/certs -M 4MB
sslcrtd_children 1 startup=1
tls_outgoing_options cafile=DIR/target.pem
acl step1 at_step SslBump1
ssl_bump peek step1
ssl_bump bump all
pid_filename none
cache deny all
access_log none
cache_log DIR/cache.log
coredump_dir DIR
shutdown_lifetime 0 seconds
connect_timeout 2 seconds
acl blocked dstdomain blocked.example
http_access deny blocked
http_access allow all
`)}
	}, func(r real) []string { return []string{"-N", "-n", "z" + r.port, "-f", r.dir + "/conf"} })
	realCases(t, site, []realCase{
		{"http is not opened", "http://" + proxy, at.http, "pass"},
		{"its CA is unknown", "http://" + proxy, site.HTTPS("/"), "target_tls cert_untrusted proxy"},
		{"its CA is unknown and the target refuses", "http://" + proxy, at.refusedHTTPS, "target_tls cert_untrusted proxy"},
		{"denied", "http://" + proxy, "https://blocked.example/", "target_tls cert_untrusted proxy"},
		{"target refuses http", "http://" + proxy, at.refusedHTTP, "tunnel upstream_refused target"},
	})
	trusting := func(url string) checks.Spec {
		s := request(url)
		s.Steps[0].Request.TLS.CAFile = own.File(t, t.TempDir())
		s.Steps[0].Expect.BodyContains = []string{"catalogue"}
		return s
	}
	gone := strings.Replace(at.refusedHTTPS, "127.0.0.1", zoo.Name, 1)
	want(t, run(t, trusting(site.HTTPS("/")), "http://"+proxy), "pass")
	// Who trusts it gets its pages as the target's: nothing in the TLS tells them apart.
	want(t, run(t, trusting(gone), "http://"+proxy), "verify http_status target")
	want(t, run(t, trusting("https://blocked.example/"), "http://"+proxy), "verify http_status target")
}

func TestRealStunnelBeforeSquid(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	at := targetPlaces(t, site)
	behind := squid(t, "")
	ca := zoo.NewCA(t, "other CA")
	front := func(cert *zoo.CA) string {
		return startReal(t, "stunnel", func(r real) map[string]string {
			return map[string]string{"pem": cert.KeyPair(t, "127.0.0.1"),
				"conf": fmt.Sprintf("foreground=yes\npid=\n[p]\naccept=127.0.0.1:%s\nconnect=%s\ncert=%s/pem\n", r.port, behind, r.dir)}
		}, func(r real) []string { return []string{r.dir + "/conf"} })
	}
	good, untrusted := front(site.CA), front(ca)
	realCases(t, site, []realCase{
		{"http", "https://" + good, at.http, "pass"},
		{"https", "https://" + good, at.https, "pass"},
		{"target refuses", "https://" + good, at.refusedHTTPS, "tunnel upstream_refused target"},
		{"denied", "https://" + good, "https://blocked.example/", "tunnel forbidden proxy"},
		{"untrusted", "https://" + untrusted, at.https, "proxy_tls cert_untrusted proxy"},
	})
	for _, url := range []string{at.http, at.https} { // stunnel just closes, or sends an alert
		if v := run(t, request(url), "http://"+good); v.Stage != "tunnel" && v.Stage != "headers" {
			t.Errorf("plain to TLS: %s", says(v))
		}
	}
}

func TestRealTinyproxy(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	at := targetPlaces(t, site)
	start := func(more string) string {
		return startReal(t, "tinyproxy", func(r real) map[string]string {
			return map[string]string{"filter": "blocked\\.example\n",
				"conf": fmt.Sprintf("Port %s\nListen 127.0.0.1\nTimeout 5\nMaxClients 50\nFilter \"%s/filter\"\n%s\n", r.port, r.dir, more)}
		}, func(r real) []string { return []string{"-d", "-c", r.dir + "/conf"} })
	}
	open, login, narrow, shut := start(""), start("BasicAuth ann secret"), start("ConnectPort 443"), start("Allow 192.0.2.1")
	realCases(t, site, []realCase{
		{"http", "http://" + open, at.http, "pass"},
		{"https", "http://" + open, at.https, "pass"},
		{"login", "http://ann:secret@" + login, at.https, "pass"},
		{"wrong login http", "http://ann:wrong@" + login, at.http, "proxy_auth auth_rejected credentials"},
		{"wrong login https", "http://ann:wrong@" + login, at.https, "proxy_auth auth_rejected credentials"},
		{"no login", "http://" + login, at.https, "proxy_auth auth_required credentials"},
		{"filtered http", "http://" + open, "http://blocked.example/", "tunnel forbidden proxy"},
		{"filtered https", "http://" + open, "https://blocked.example/", "tunnel forbidden proxy"},
		{"port not allowed", "http://" + narrow, at.https, "tunnel forbidden proxy"},
		{"client not allowed", "http://" + shut, at.https, "tunnel forbidden proxy"},
		{"target refuses http", "http://" + open, at.refusedHTTP, "tunnel upstream_error target"},
		{"target refuses https", "http://" + open, at.refusedHTTPS, "tunnel upstream_error target"},
		{"silent target", "http://" + open, at.silent, "headers timeout unknown"},
		{"silent target TLS", "http://" + open, at.silentTLS, "target_tls timeout unknown"},
	})
}

func TestRealMicrosocks(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	at := targetPlaces(t, site)
	start := func(more ...string) string {
		return startReal(t, "microsocks", func(real) map[string]string { return nil }, func(r real) []string {
			return append([]string{"-i", "127.0.0.1", "-p", r.port}, more...)
		})
	}
	open, login := start(), start("-u", "ann", "-P", "secret")
	realCases(t, site, []realCase{
		{"http", "socks5h://" + open, at.http, "pass"},
		{"https", "socks5://" + open, at.https, "pass"},
		{"login", "socks5h://ann:secret@" + login, at.https, "pass"},
		{"wrong login", "socks5h://ann:wrong@" + login, at.http, "proxy_auth auth_rejected credentials"},
		{"no login", "socks5h://" + login, at.http, "proxy_auth auth_required credentials"},
		{"target refuses", "socks5h://" + open, at.refusedHTTP, "tunnel upstream_refused target"},
		{"no such name", "socks5h://" + open, "http://nowhere.invalid/", "tunnel upstream_error proxy"}, // its word for it is 1

		{"silent target", "socks5h://" + open, at.silent, "headers timeout target"},
	})
}

func TestRealDante(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	at := targetPlaces(t, site)
	start := func(method string) string {
		return startReal(t, "danted", func(r real) map[string]string {
			return map[string]string{"conf": strings.NewReplacer("PORT", r.port, "METHOD", method, "REFUSED", strings.TrimSuffix(at.silent[len("http://127.0.0.1:"):], "/")).Replace(`logoutput: /dev/null
internal: 127.0.0.1 port = PORT
external: 127.0.0.1
clientmethod: none
socksmethod: METHOD
user.privileged: root
user.unprivileged: nobody
client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
socks block { from: 0.0.0.0/0 to: 127.0.0.0/8 port = REFUSED }
socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
`)}
		}, func(r real) []string { return []string{"-f", r.dir + "/conf", "-p", r.dir + "/pid"} })
	}
	open, login := start("none"), start("username")
	realCases(t, site, []realCase{
		{"http", "socks5h://" + open, at.http, "pass"},
		{"https", "socks5h://" + open, at.https, "pass"},
		{"socks4", "socks4://" + open, at.https, "pass"},
		{"refused by rule", "socks5h://" + open, at.silent, "tunnel forbidden proxy"},
		{"refused by rule, socks4", "socks4://" + open, at.silent, "tunnel upstream_error target"},
		{"target refuses", "socks5h://" + open, at.refusedHTTP, "tunnel upstream_refused target"},
		{"wrong login", "socks5h://nobody-here:wrong@" + login, at.http, "proxy_auth auth_rejected credentials"},
		{"no login", "socks5h://" + login, at.http, "proxy_auth auth_required credentials"},
	})
}

func TestRealPrivoxy(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	at := targetPlaces(t, site)
	open := startReal(t, "privoxy", func(r real) map[string]string {
		return map[string]string{"actions": "{+block{no}}\nblocked.example\n{+limit-connect{-}}\n/\n",
			"conf": fmt.Sprintf("listen-address 127.0.0.1:%s\nlogdir %s\ntempldir /etc/privoxy/templates\nactionsfile %s/actions\nsocket-timeout 3\n", r.port, r.dir, r.dir)}
	}, func(r real) []string { return []string{"--no-daemon", r.dir + "/conf"} })
	realCases(t, site, []realCase{
		{"http", "http://" + open, at.http, "pass"},
		{"https", "http://" + open, at.https, "pass"},
		{"blocked http", "http://" + open, "http://blocked.example/", "tunnel forbidden proxy"},
		{"blocked https", "http://" + open, "https://blocked.example/", "tunnel forbidden proxy"},
		{"target refuses http", "http://" + open, at.refusedHTTP, "tunnel upstream_error target"},
		{"target refuses https", "http://" + open, at.refusedHTTPS, "tunnel upstream_error target"},
		{"no such name http", "http://" + open, "http://nowhere.invalid/", "tunnel upstream_dns target"},
		{"silent target", "http://" + open, at.silent, "headers timeout unknown"},
	})
}

// haproxy before squid, as a balancer of proxies: it adds answers of its own.
func TestRealHaproxy(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	at := targetPlaces(t, site)
	start := func(backend string) string {
		return startReal(t, "haproxy", func(r real) map[string]string {
			return map[string]string{"conf": fmt.Sprintf("defaults\n mode http\n timeout connect 1s\n timeout client 5s\n timeout server 5s\n retries 0\nlisten p\n bind 127.0.0.1:%s\n http-request deny deny_status 403 if { hdr(host) -m beg blocked.example }\n server s %s\n", r.port, backend)}
		}, func(r real) []string { return []string{"-db", "-f", r.dir + "/conf"} })
	}
	good, dead := start(squid(t, "")), start(zoo.Refused(t).String())
	realCases(t, site, []realCase{
		{"http", "http://" + good, at.http, "pass"},
		{"https", "http://" + good, at.https, "pass"},
		{"denied https", "http://" + good, "https://blocked.example/", "tunnel forbidden proxy"},
		{"target refuses", "http://" + good, at.refusedHTTPS, "tunnel upstream_refused target"},
		{"its own backend is dead", "http://" + dead, at.https, "tunnel upstream_error proxy"},
	})
}

func TestRealSSH(t *testing.T) {
	t.Parallel()
	site := zoo.Target(t, nil)
	at := targetPlaces(t, site)
	sshd, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil || os.Getuid() != 0 {
		if os.Getenv("PROXYWARD_REAL") == "required" {
			t.Fatal("sshd is not installed, or this is not root")
		}
		t.Skip("needs sshd and root; CI has both")
	}
	os.MkdirAll("/run/sshd", 0o755)
	keys := t.TempDir()
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys+"/key").CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	pub, _ := os.ReadFile(keys + "/key.pub")
	server := startReal(t, sshd, func(r real) map[string]string {
		return map[string]string{"conf": fmt.Sprintf("ListenAddress 127.0.0.1:%s\nHostKey %s/key\nAuthorizedKeysFile %s/authorized\nStrictModes no\nPidFile none\nPermitRootLogin yes\nUsePAM no\n", r.port, keys, r.dir), "authorized": string(pub)}
	}, func(r real) []string { return []string{"-D", "-e", "-f", r.dir + "/conf"} })
	_, port, _ := net.SplitHostPort(server)
	proxy := startReal(t, "ssh", func(real) map[string]string { return nil }, func(r real) []string {
		return []string{"-N", "-D", "127.0.0.1:" + r.port, "-p", port, "-i", keys + "/key", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "root@127.0.0.1"}
	})
	realCases(t, site, []realCase{
		{"http", "socks5h://" + proxy, at.http, "pass"},
		{"https", "socks5h://" + proxy, at.https, "pass"},
		{"socks4a", "socks4a://" + proxy, at.https, "pass"},
		{"silent target", "socks5h://" + proxy, at.silent, "headers timeout target"},
		// It has no reply for a failure, it just closes.
		{"target refuses", "socks5h://" + proxy, at.refusedHTTP, "tunnel eof unknown"},
	})
}
