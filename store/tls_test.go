package store_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/health"
	"proxyward/store/record"
)

// tlsOnly starts a server that speaks nothing but TLS, with the users of the ACL.
func tlsOnly(t *testing.T, dir string, args ...string) (addr string) {
	t.Helper()
	port := testenv.Port(t)
	for port > 55000 { // a cluster's bus listens 10000 above
		port = testenv.Port(t)
	}
	testenv.Start(t, testenv.Program(t, "redis-server"), append(args, "--port", "0", "--tls-port", fmt.Sprint(port), "--bind", "127.0.0.1", "--dir", t.TempDir(),
		"--tls-cert-file", dir+"/server.pem", "--tls-key-file", dir+"/server.key", "--tls-ca-cert-file", dir+"/ca.pem",
		"--tls-auth-clients", "no", "--tls-replication", "yes", "--save", "")...)
	addr = fmt.Sprintf("127.0.0.1:%d", port)
	testenv.WaitTCP(t, addr)
	return addr
}

// secure goes through what a daemon and a doctor do, as proxyward over TLS.
func secure(t *testing.T, a store.Address) {
	t.Helper()
	a.Username, a.Password = "proxyward", testenv.PasswordOf("proxyward")
	s := openStore(t, a)
	p := s.Pool(check)
	plant(t, p, record.Candidate, now(t, p), ids(0, 3)...)
	works(t, p)
	sound(t, p)
	woken := p.Wakeups(t.Context()) // a subscription dials by itself
	testenv.Eventually(t, 10*time.Second, "a wake-up arrives", func() bool {
		if _, err := p.Recheck(t.Context(), 0, ids(0, 1)); err != nil {
			t.Fatal(err)
		}
		select {
		case <-woken:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	})
	findings := diagnosed(t, s, store.Looking{})
	says(t, findings, health.OK, "acl", "user proxyward may do all")
	if health.Worst(findings) == health.Hurts {
		t.Errorf("%s", list(findings))
	}
	a.CAFile = ""
	strange := openStore(t, a)
	if err := strange.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "x509") && !strings.Contains(err.Error(), "sentinel") {
		t.Errorf("a stranger's certificate: %v", err)
	}
}

func TestAUserOverTLS(t *testing.T) {
	dir := t.TempDir()
	authority(t, dir)
	addr := tlsOnly(t, dir, "--include", testenv.ACL(t))
	secure(t, store.Address{URL: "rediss://" + addr, CAFile: dir + "/ca.pem"})
}

func TestAClusterOverTLS(t *testing.T) {
	dir := t.TempDir()
	authority(t, dir)
	addr := tlsOnly(t, dir, "--include", testenv.ACL(t), "--cluster-enabled", "yes", "--tls-cluster", "yes",
		"--cluster-announce-ip", "127.0.0.1") // a lone node does not know where it is
	admin := openTLS(t, addr, dir)
	if err := admin.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "the cluster is up", func() bool {
		return strings.Contains(admin.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	})
	secure(t, store.Address{Cluster: []string{addr}, TLS: true, CAFile: dir + "/ca.pem"})
}

func TestSentinelsOverTLS(t *testing.T) {
	dir := t.TempDir()
	authority(t, dir)
	master := tlsOnly(t, dir, "--include", testenv.ACL(t))
	host, port, _ := strings.Cut(master, ":")
	conf := dir + "/sentinel.conf"
	if err := os.WriteFile(conf, fmt.Appendf(nil, "sentinel monitor ward %s %s 1\n", host, port), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := tlsOnly(t, dir, conf, "--sentinel")
	a := store.Address{Sentinel: store.Sentinel{Master: "ward", Addresses: []string{sentinel}}, TLS: true, CAFile: dir + "/ca.pem"}
	secure(t, a)
	a.Username, a.Password = "proxyward", testenv.PasswordOf("proxyward")
	says(t, diagnosed(t, openStore(t, a), store.Looking{}), health.OK, "sentinel", "of 1 sentinels all answer, and could fail over")
}

func openTLS(t *testing.T, addr, dir string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL("rediss://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	options.TLSConfig.InsecureSkipVerify = true // only this test's own server is there
	c := redis.NewClient(options)
	t.Cleanup(func() { c.Close() })
	return c
}
