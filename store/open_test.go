package store_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

const canary = "c4n4ry-p4ss"

// reach opens a store and asks whether Redis answers; no error may tell the password.
func reach(t *testing.T, a store.Address) error {
	t.Helper()
	s, err := store.Open(a)
	if err == nil {
		defer s.Close()
		err = s.Ping(t.Context())
	}
	if err != nil && (strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), url.QueryEscape(canary))) {
		t.Errorf("the error tells the password: %v", err)
	}
	return err
}

func wants(t *testing.T, err error, words string) {
	t.Helper()
	if words == "" && err != nil || words != "" && (err == nil || !strings.Contains(err.Error(), words)) {
		t.Errorf("%v, want %q", err, words)
	}
}

func TestLoggingIn(t *testing.T) {
	addr := strings.TrimSuffix(strings.TrimPrefix(testenv.Redis(t, "--requirepass", canary,
		"--user", "ward", "on", ">"+canary, "~*", "&*", "+@all"), "redis://"), "/0")
	for _, c := range []struct {
		name string
		at   store.Address
		want string
	}{
		{"password in the URL", store.Address{URL: "redis://:" + canary + "@" + addr}, ""},
		{"password beside it", store.Address{URL: "redis://" + addr, Password: canary}, ""},
		{"the one beside it wins", store.Address{URL: "redis://:wrong@" + addr, Password: canary}, ""},
		{"user and password", store.Address{URL: "redis://ward:" + canary + "@" + addr}, ""},
		{"user and password beside it", store.Address{URL: "redis://other:wrong@" + addr, Username: "ward", Password: canary}, ""},
		{"none", store.Address{URL: "redis://" + addr}, "NOAUTH"},
		{"a wrong one", store.Address{URL: "redis://" + addr, Password: canary + "x"}, "WRONGPASS"},
		{"an unknown user", store.Address{URL: "redis://nobody:" + canary + "@" + addr}, "WRONGPASS"},
	} {
		t.Run(c.name, func(t *testing.T) { wants(t, reach(t, c.at), c.want) })
	}
}

func TestAddressesThatLeadNowhere(t *testing.T) {
	for _, c := range []struct{ name, url, want string }{
		{"nobody listens", fmt.Sprintf("redis://:%s@127.0.0.1:%d", canary, testenv.Port(t)), "refused"},
		{"no such socket", "unix://:" + canary + "@" + t.TempDir() + "/none.sock", "no such file"},
		{"another scheme", "http://:" + canary + "@127.0.0.1", "bad URL"},
		{"a broken escape", "redis://:" + canary + "%zz@127.0.0.1", "bad URL"},
		{"a broken port", "redis://:" + canary + "@127.0.0.1:port", "bad URL"},
		{"a broken database", "redis://:" + canary + "@127.0.0.1/x", "bad URL"},
		{"an unknown parameter", "redis://:" + canary + "@127.0.0.1/0?pw=" + canary, "bad URL"},
		{"a control character", "redis://:" + canary + "\x01@127.0.0.1", "bad URL"},
		{"nothing", "", "bad URL"},
	} {
		t.Run(c.name, func(t *testing.T) { wants(t, reach(t, store.Address{URL: c.url}), c.want) })
	}
	wants(t, reach(t, store.Address{URL: "redis://127.0.0.1", Prefix: "a{b}"}), "braces")
}

func TestAnEndThatComesMeanwhileIsAnErrorNotAHang(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := store.Open(store.Address{URL: "redis://" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	begin := time.Now()
	if _, err := s.Pool("c").Claim(ctx, request(1)); err == nil || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "ward") // a short path: sockets allow 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	testenv.Redis(t, "--unixsocket", dir+"/r.sock", "--requirepass", canary)
	testenv.Eventually(t, 5*time.Second, "no socket", func() bool { _, err := os.Stat(dir + "/r.sock"); return err == nil })
	wants(t, reach(t, store.Address{URL: "unix://" + dir + "/r.sock?db=1", Password: canary}), "")
	wants(t, reach(t, store.Address{URL: "unix://:" + canary + "@" + dir + "/r.sock"}), "")
	wants(t, reach(t, store.Address{URL: "unix://" + dir + "/r.sock"}), "NOAUTH")
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	authority(t, dir)
	port := testenv.Port(t)
	plain := testenv.Redis(t, "--tls-port", fmt.Sprint(port), "--tls-cert-file", dir+"/server.pem", "--tls-key-file", dir+"/server.key",
		"--tls-ca-cert-file", dir+"/ca.pem", "--tls-auth-clients", "no", "--requirepass", canary)
	secure := fmt.Sprintf("rediss://127.0.0.1:%d", port)
	testenv.WaitTCP(t, fmt.Sprintf("127.0.0.1:%d", port))
	ca := dir + "/ca.pem"
	if err := os.WriteFile(dir+"/empty.pem", []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		at   store.Address
		want string
	}{
		{"its CA is known", store.Address{URL: secure, Password: canary, CAFile: ca}, ""},
		{"its CA is unknown", store.Address{URL: secure, Password: canary}, "x509"},
		{"another name", store.Address{URL: fmt.Sprintf("rediss://localhost:%d", port), Password: canary, CAFile: ca}, "x509"},
		{"a CA without TLS", store.Address{URL: plain, Password: canary, CAFile: ca}, "rediss://"},
		{"no CA file", store.Address{URL: secure, Password: canary, CAFile: dir + "/none"}, "no such file"},
		{"a CA file that is none", store.Address{URL: secure, Password: canary, CAFile: dir + "/empty.pem"}, "no PEM certificate"},
		{"a wrong password", store.Address{URL: secure, Password: canary + "x", CAFile: ca}, "WRONGPASS"},
	} {
		t.Run(c.name, func(t *testing.T) { wants(t, reach(t, c.at), c.want) })
	}
}

// authority writes a CA and a certificate for 127.0.0.1 into dir.
func authority(t *testing.T, dir string) {
	t.Helper()
	caKey, key := newKey(t), newKey(t)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	server := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	for name, template := range map[string]*x509.Certificate{"ca": ca, "server": server} {
		public := &caKey.PublicKey
		if name == "server" {
			public = &key.PublicKey
		}
		der, err := x509.CreateCertificate(rand.Reader, template, ca, public, caKey)
		if err != nil {
			t.Fatal(err)
		}
		writePEM(t, filepath.Join(dir, name+".pem"), "CERTIFICATE", der)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, filepath.Join(dir, "server.key"), "EC PRIVATE KEY", der)
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Everything Redis holds is read back: the password is in `urls` and nowhere else.
func TestNoSecretOutsideURLs(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		const id = "http://user@10.0.0.1:8080"
		full := "http://user:" + canary + "@10.0.0.1:8080"
		rec := record.Record{State: record.Candidate, Sources: []string{"file:l"}}
		applied(t)(p.Amend(t.Context(), []store.Change{{ID: id, URL: full, Transition: record.Transition{To: record.Candidate, Next: rec, DueMs: 1, DelayMs: 1,
			Event: &record.Step{To: record.Candidate, By: record.BySource}}}}))
		l := one(t, p)
		if l.URL != full {
			t.Fatalf("leased %s", l.URL)
		}
		applied(t)(commit(t, p, move(l, record.Cooling, now(t, p), 0)), nil)
		at.later(t, 61*time.Second)
		l = one(t, p)
		if _, err := p.Recheck(t.Context(), 0, []string{id}); err != nil {
			t.Fatal(err)
		}
		read, secret := 0, 0
		for _, key := range at.raw.Keys(t.Context(), "*").Val() {
			read++
			if strings.Contains(dump(t, at, key), canary) {
				secret++
				if key != at.key("urls") {
					t.Errorf("%s holds the password", key)
				}
			}
		}
		if read < 9 || secret != 1 {
			t.Errorf("%d keys read, %d with the password", read, secret)
		}
		applied(t)(commit(t, p, move(l, record.Eligible, now(t, p), 0)), nil)
		if _, url, _, err := p.Allocate(t.Context()); err != nil || url != full {
			t.Error(url, err)
		}
	})
}

func dump(t *testing.T, at place, key string) string {
	t.Helper()
	ctx, r := t.Context(), at.raw
	switch kind := r.Type(ctx, key).Val(); kind {
	case "hash":
		return fmt.Sprint(r.HGetAll(ctx, key).Val())
	case "zset":
		return fmt.Sprint(r.ZRangeWithScores(ctx, key, 0, -1).Val())
	case "stream":
		return fmt.Sprint(r.XRange(ctx, key, "-", "+").Val())
	default:
		t.Fatalf("%s is a %s: read it too", key, kind)
		return ""
	}
}
