package configs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proxyward/internal/zoo"
)

func TestOtherMachinesNeedATokenAndTLS(t *testing.T) {
	const safe = ", token_file: t, tls: {cert_file: c, key_file: k}"
	for _, c := range []struct {
		listen string
		beyond bool
	}{
		{"127.0.0.1:9180", false}, {"127.9.9.9:0", false}, {"[::1]:9180", false}, {"localhost:9180", false}, {"unix:/run/p/admin.sock", false}, {"", false},
		{"0.0.0.0:9180", true}, {":9180", true}, {"[::]:9180", true}, {"192.0.2.1:9180", true}, {"admin.example:9180", true},
		{"[::ffff:127.0.0.1]:9180", false}, {"localhost.example:9180", true}, {"127.0.0.1.example:9180", true},
	} {
		t.Run(c.listen, func(t *testing.T) {
			text := func(more string) string {
				return fmt.Sprintf("admin: {listen: %q%s}\nchecks: [{name: a, request: {url: \"https://shop.example/\"}, endpoints: [{file: p}]}]\n", c.listen, more)
			}
			_, err := Parse("test.yaml", []byte(text("")), OSEnv())
			if refused := err != nil && strings.Contains(err.Error(), "test.yaml:1:17: admin.listen: "+c.listen+" can be reached from other machines: set admin.token_file and admin.tls"); refused != c.beyond {
				t.Errorf("refused %v, want %v: %v", refused, c.beyond, err)
			}
			if c.beyond {
				parse(t, text(safe))
				if _, err := Parse("test.yaml", []byte(text(", token_file: t")), OSEnv()); err == nil {
					t.Error("a token alone is enough")
				}
			}
		})
	}
}

func TestTokenSaysWhereWhatAndHow(t *testing.T) {
	files := map[string]string{"/short": "fifteen-bytes-1\n", "/exact": "sixteen-bytes-12\n", "/lines": "one line of many\nand another\n", "/creds/tok": "a-token-of-the-unit\n", "/empty": "\n"}
	env := Env{Lookup: func(string) (string, bool) { return "/creds", true },
		ReadFile: func(path string) ([]byte, error) {
			if text, is := files[path]; is {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}}
	for name, want := range map[string]string{
		"/short": "admin.token_file: the token in /short has 15 bytes: write at least 16 random ones",
		"/lines": "cannot stand in a header", "/empty": "is empty", "/none": "admin.token_file: the file /none cannot be read: there is none", "../tok": "leads out of",
	} {
		token, err := Admin{TokenFile: name, env: env}.Token()
		if err == nil || !strings.Contains(err.Error(), want) || !token.IsZero() {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "fifteen") || strings.Contains(err.Error(), "another")) {
			t.Errorf("%s: the error shows the token: %v", name, err)
		}
	}
	for name, want := range map[string]string{"/exact": "sixteen-bytes-12", "tok": "a-token-of-the-unit", "": ""} {
		if token, err := (Admin{TokenFile: name, env: env}).Token(); err != nil || token.Reveal() != want {
			t.Errorf("%q: %q, %v", name, token.Reveal(), err)
		}
	}
}

func TestCertificateAndItsKeyGoTogether(t *testing.T) {
	pair := func() string {
		path := filepath.Join(t.TempDir(), "pair.pem")
		if err := os.WriteFile(path, []byte(zoo.NewCA(t, "one").KeyPair(t, "127.0.0.1")), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mine, other := pair(), pair()
	if cert, err := (Admin{CertFile: mine, KeyFile: mine, env: OSEnv()}).Certificate(); err != nil || cert == nil {
		t.Errorf("%v, %v", cert, err)
	}
	if _, err := (Admin{CertFile: mine, KeyFile: other, env: OSEnv()}).Certificate(); err == nil || !strings.Contains(err.Error(), "no certificate and its key") {
		t.Errorf("another one's key: %v", err)
	}
	if cert, err := (Admin{}).Certificate(); err != nil || cert != nil {
		t.Errorf("none: %v, %v", cert, err)
	}
}
