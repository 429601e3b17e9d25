package sources

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadSaysWhichFileAndHowToMend(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.txt")
	if err := os.WriteFile(secret, []byte("a:1"), 0); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		path, want string
		is         error
	}{
		"missing":    {filepath.Join(dir, "none.txt"), "correct the path", fs.ErrNotExist},
		"directory":  {dir, "a directory", nil},
		"unreadable": {secret, "let the user that runs proxyward read it", fs.ErrPermission},
	}
	for name, c := range cases {
		if name == "unreadable" && os.Geteuid() == 0 {
			continue // root reads everything
		}
		_, err := Read(c.path, "http")
		if err == nil || !strings.Contains(err.Error(), c.path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v does not wrap %v", name, err, c.is)
		}
	}
	if _, err := Read("", "http"); err == nil {
		t.Error("no path is no error")
	}
}

func TestRemedies(t *testing.T) {
	if r := remedy(&fs.PathError{Err: fs.ErrPermission}); !strings.Contains(r, "read it") {
		t.Errorf("permission: %q", r)
	}
}

func TestReadGivesTheList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "proxies.txt")
	if err := os.WriteFile(path, []byte("192.0.2.1:80\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Read(path, "socks5")
	if err != nil || len(l.Accepted) != 1 || l.Accepted[0].Endpoint.ID() != "socks5://192.0.2.1:80" {
		t.Errorf("%+v %v", l, err)
	}
	if Name(path) != "file:"+path {
		t.Errorf("name %s", Name(path))
	}
}

func TestWhatMayHaveNoEndIsNoList(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		if _, err := Read(path, "http"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
