package zoo

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// CA is a certificate authority of the zoo's own.
type CA struct {
	PEM  []byte
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewCA makes one.
func NewCA(t TB, name string) *CA {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	now := time.Now()
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: now.AddDate(-2, 0, 0), NotAfter: now.AddDate(2, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	return &CA{PEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), cert: cert, key: key}
}

// File writes the CA's certificate into dir and returns the file's path.
func (ca *CA) File(t TB, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(name, ca.PEM, 0o600); err != nil {
		t.Fatalf("zoo: %v", err)
	}
	return name
}

// Leaf makes a server certificate for the names, valid from the past until life from now
// (negative: expired).
func (ca *CA) Leaf(t TB, life time.Duration, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	now := time.Now()
	c := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: names[0]}, NotBefore: now.AddDate(0, -6, 0), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, ca.cert, &key.PublicKey, ca.key)
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// ServerTLS is a good server configuration for the names.
func (ca *CA) ServerTLS(t TB, names ...string) *tls.Config {
	t.Helper()
	return &tls.Config{Certificates: []tls.Certificate{ca.Leaf(t, 24*time.Hour, names...)}}
}

// KeyPair is a good certificate for the names with its key, in PEM, for programs that read
// both from one file.
func (ca *CA) KeyPair(t TB, names ...string) string {
	t.Helper()
	leaf := ca.Leaf(t, 24*time.Hour, names...)
	key, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})) +
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Certificate[0]}))
}

// OwnKeyPair is the CA's own key and certificate in PEM, for programs that sign with them.
func (ca *CA) OwnKeyPair(t TB) string {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(ca.key)
	if err != nil {
		t.Fatalf("zoo: %v", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})) + string(ca.PEM)
}
