package testenv

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ACL writes the users of configs/redis-acl.conf, each with the password that As logs in
// with, into a file for redis-server's --include; edit changes the text first.
func ACL(t testing.TB, edit ...func(string) string) (path string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "configs", "redis-acl.conf"))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`SHA256-OF-THE-PASSWORD-OF-\w+`).ReplaceAllStringFunc(string(b), func(word string) string {
		user := strings.ToLower(word[strings.LastIndex(word, "-")+1:])
		return fmt.Sprintf("%x", sha256.Sum256([]byte(PasswordOf(user))))
	})
	for _, f := range edit {
		text = f(text)
	}
	path = filepath.Join(t.TempDir(), "redis-acl.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// As is the URL of a server that was started with ACL, for one of its users.
func As(user, rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return rawURL
	}
	u.User = url.UserPassword(user, PasswordOf(user))
	return u.String()
}

// PasswordOf is the password of a user in ACL's file.
func PasswordOf(user string) string { return "only-in-tests-" + user }

// root is the folder of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the working directory")
	return ""
}
