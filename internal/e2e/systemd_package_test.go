package e2e_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proxyward/internal/testenv"
)

func TestTheSameSourcesGiveTheSamePackage(t *testing.T) {
	t.Parallel()
	made := packages(t)
	one, err := os.ReadFile(made.older)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(made.again)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, other) {
		t.Errorf("built in two folders the packages differ: %d and %d bytes; keep both and compare them with diffoscope", len(one), len(other))
	}
}

func TestAReleasesNotesAreCutFromTheChangelog(t *testing.T) {
	dir := release(t, "# Changelog\n\n## Unreleased\n\n- soon\n\n## 1.1.0 (2026-02-01)\n\nTwo things.\n\n- one\n\n  more of it\n- two\n\n## 1.1\n\n- another\n")
	for version, want := range map[string]string{"1.1.0": "Two things.\n\n- one\n\n  more of it\n- two\n", "1.1": "- another\n", "Unreleased": "- soon\n", "1.0": ""} {
		o := run(t, "bash", filepath.Join(dir, "packaging/notes"), version)
		if o.out != want || (o.code == 0) != (want != "") {
			t.Errorf("%s: exit status %d, %q, not %q", version, o.code, o.out, want)
		}
	}
	t.Setenv("MAINTAINER", "A Person <person@example.org>")
	t.Setenv("SOURCE_DATE_EPOCH", "1767225600")
	for version, want := range map[string]string{"1.1.0": "  * Two things.\n  * one\n  * more of it\n  * two", "1.1": "  * another", "1.2-rc1": "  * soon"} {
		o := run(t, "bash", filepath.Join(dir, "packaging/debian-changelog"), version)
		head, tail := "proxyward ("+strings.Replace(version, "-", "~", 1)+"-1) unstable; urgency=medium\n\n", "\n\n -- A Person <person@example.org>  Thu, 01 Jan 2026 00:00:00 +0000\n"
		if o.out != head+want+tail {
			t.Errorf("Debian's form of %s: exit status %d, %q, not %q", version, o.code, o.out, head+want+tail)
		}
	}
}

// The changelog that there is gives a version the notes that are unreleased now, once its
// heading says so.
func TestTheUnreleasedNotesBecomeAVersions(t *testing.T) {
	t.Parallel()
	now, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	unreleased := run(t, "bash", "../../packaging/notes", "Unreleased")
	dir := release(t, strings.Replace(string(now), "\n## Unreleased\n", "\n## Unreleased\n\n## 987.6.5 (2026-02-01)\n", 1))
	if o := run(t, "bash", filepath.Join(dir, "packaging/notes"), "987.6.5"); o.code != 0 || o.out != unreleased.out || len(lines(o.out)) < 3 {
		t.Errorf("exit status %d, %q, not %q", o.code, o.out, unreleased.out)
	}
	if o := run(t, "bash", filepath.Join(dir, "packaging/notes"), "Unreleased"); o.code != 1 || o.out != "" {
		t.Errorf("nothing is unreleased, but: exit status %d, %q", o.code, o.out)
	}
}

// release is a folder with the scripts that cut notes, and a changelog.
func release(t *testing.T, changelog string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files := map[string][]byte{"CHANGELOG.md": []byte(changelog)}
	for _, name := range []string{"packaging/notes", "packaging/debian-changelog"} {
		script, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = script
	}
	if err := os.Mkdir(filepath.Join(dir, "packaging"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestThePackageFromInstallToPurge(t *testing.T) {
	t.Parallel()
	made := packages(t)
	url, farm, m := testenv.Redis(t, wardOnly...), testenv.NewFarm(t, 3), boot(t)
	m.serve(made.older, url, farm, 3)

	if active, enabled := m.prop("ActiveState"), m.prop("UnitFileState"); active != "inactive" || enabled != "disabled" {
		t.Errorf("installed, it is %s and %s", active, enabled)
	}
	if got := m.run("proxyward", "version"); !strings.HasPrefix(got, "proxyward 0.1.0 (0123456789ab) ") {
		t.Errorf("version: %s", got)
	}
	if got := m.run("stat", "-c", "%a %U %G", "/etc/proxyward", "/etc/proxyward/proxyward.yaml"); got != "2750 root proxyward-conf\n640 root proxyward-conf" {
		t.Errorf("/etc/proxyward is %s", got)
	}
	for _, path := range []string{"/usr/share/man/man1/proxyward.1.gz", "/usr/share/man/man1/proxyward-run.1.gz", "/usr/share/doc/proxyward/copyright",
		"/usr/share/doc/proxyward/changelog.Debian.gz", "/usr/share/bash-completion/completions/proxyward",
		"/usr/share/zsh/vendor-completions/_proxyward", "/usr/share/fish/vendor_completions.d/proxyward.fish"} {
		m.run("test", "-s", path)
	}
	m.run("bash", "-n", "/usr/share/bash-completion/completions/proxyward")
	if got := m.run("dpkg", "--verify", "proxyward"); strings.Trim(got, "\n") != "??5?????? c /etc/proxyward/proxyward.yaml" {
		t.Errorf("beside the edited configuration differ: %s", got)
	}

	m.install(made.newer)
	if got := m.prop("ActiveState"); got != "inactive" {
		t.Errorf("the upgrade of what does not run: %s", got)
	}
	m.run("dpkg", "-i", "--force-downgrade", "/tmp/proxyward.deb")
	m.install(made.older)

	m.run("systemctl", "enable", "--now", "proxyward")
	m.becomes("StatusText", "c: 3 eligible")
	if o := m.wardCLI("disable", farm.ID(0), "--note", "kept by upgrades"); o.code != 0 {
		t.Fatalf("disable: %s%s", o.out, o.err)
	}
	if o := m.wardCLI("allocate"); o.code != 0 {
		t.Fatalf("allocate: %s%s", o.out, o.err)
	}
	pid := m.prop("MainPID")
	m.install(made.newer)
	if now := m.prop("MainPID"); now == pid || now == "0" || m.prop("ActiveState") != "active" || m.prop("UnitFileState") != "enabled" {
		t.Errorf("after the upgrade: process %s (it was %s), %s", now, pid, m.prop("ActiveState"))
	}
	if got := m.run("readlink", "/proc/"+m.prop("MainPID")+"/exe"); got != "/usr/bin/proxyward" {
		t.Errorf("what runs is %s", got)
	}
	if got := m.run("proxyward", "version"); !strings.HasPrefix(got, "proxyward 0.2.0 ") {
		t.Errorf("version: %s", got)
	}
	m.becomes("StatusText", "c: 2 eligible")
	kept := decode[explained](t, m.wardCLI("explain", farm.ID(0), "--json").out).Record
	if kept.State != "disabled" || kept.Note != "kept by upgrades" {
		t.Errorf("the upgrade kept %+v", kept)
	}
	if got := m.run("grep", "-c", "target.example", "/etc/proxyward/proxyward.yaml"); got != "1" {
		t.Errorf("the configuration was not kept")
	}

	m.write("/etc/credstore.encrypted/proxyward.redis-password", "as if encrypted")
	m.run("dpkg", "-r", "proxyward")
	if got := m.prop("ActiveState"); got == "active" {
		t.Error("it runs without its package")
	}
	m.run("test", "-s", "/etc/proxyward/proxyward.yaml")
	m.run("dpkg", "-P", "proxyward")
	m.run("sh", "-c", `for f in /etc/proxyward /usr/bin/proxyward /usr/lib/systemd/system/proxyward.service /var/lib/private/proxyward /var/lib/proxyward `+
		`/usr/share/doc/proxyward /etc/credstore/proxyward.redis-password /etc/credstore.encrypted/proxyward.redis-password /etc/systemd/system/multi-user.target.wants/proxyward.service; do
		if [ -e $f ] || [ -L $f ]; then echo "$f is left" >&2; exit 1; fi; done; ! getent group proxyward-conf`)
	client := wardClient(t, url)
	if n := client.HLen(t.Context(), "proxyward:{c}:endpoints").Val(); n != 3 {
		t.Errorf("of the pool %d endpoints are left", n)
	}
}
