package admin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proxyward/internal/zoo"
)

func TestOtherMachinesAreServedOnlyWithATokenAndTLS(t *testing.T) {
	cert := zoo.NewCA(t, "admin").Leaf(t, time.Hour, "127.0.0.1")
	for name, a := range map[string]Access{"neither": {}, "no certificate": {Token: secret}, "no token": {Certificate: &cert}} {
		if s, err := New(Options{Listen: "127.0.0.1:0", Beyond: true, Access: a}); err == nil || !strings.Contains(err.Error(), "set admin.token_file and admin.tls") {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

func TestTLSAndTheCertificateIsRenewed(t *testing.T) {
	ca := zoo.NewCA(t, "admin")
	first, second := ca.Leaf(t, time.Hour, "127.0.0.1"), ca.Leaf(t, 2*time.Hour, "127.0.0.1")
	d := serve(t, locked, func(o *Options) { o.Beyond, o.Access.Certificate = true, &first })
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.PEM)
	serial := func() string {
		t.Helper()
		c, err := tls.Dial("tcp", d.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	before := serial()
	for name, a := range map[string]Access{"no token": {Certificate: &second}, "no certificate": {Token: secret}, "neither": {}} {
		if !d.Renew(a) || serial() != before {
			t.Errorf("%s: it was taken", name)
		}
	}
	if d.Renew(Access{Token: secret, Certificate: &second}) || serial() == before {
		t.Error("the new certificate is not served")
	}
	if _, err := tls.Dial("tcp", d.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
}

func TestASocketIsForItsOwnerAndGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	left, err := net.Listen("unix", path) // of a daemon that was killed
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	d := serve(t, func(o *Options) { o.Listen = "unix:" + path })
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	if resp, err := client.Get("http://any.name.at.all/healthz"); err != nil || resp.StatusCode != 200 {
		t.Errorf("%v, %v", resp, err)
	}
	client.CloseIdleConnections()
	if _, err := New(Options{Listen: "unix:" + path}); err == nil || !strings.Contains(err.Error(), "another process listens on "+path) {
		t.Errorf("twice: %v", err)
	}
	_ = d
}

func TestWhatCannotBeListenedOnIsToldWithItsMend(t *testing.T) {
	dir := t.TempDir()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	plain := filepath.Join(dir, "file")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for listen, want := range map[string]string{
		busy.Addr().String():                      "is taken by another process: write another port",
		"192.0.2.77:9180":                         "cannot listen at 192.0.2.77:9180",
		"unix:" + plain:                           "is there and no socket",
		"unix:" + filepath.Join(dir, "no", "dir"): "RuntimeDirectory=",
	} {
		if _, err := New(Options{Listen: listen}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "admin.listen: ") {
			t.Errorf("%s: %v, want %q", listen, err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTheSocketIsGoneAfterTheStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	s, err := New(Options{Listen: "unix:" + path, Metrics: http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s.Run(ctx)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
