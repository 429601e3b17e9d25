package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// This process is the daemon, too: it gets the SIGHUP and answers.
func TestWhoAsksForAReloadHearsWhatCameOfIt(t *testing.T) {
	dir := t.TempDir()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	ask := func(dir string, args ...string) (code int, said string) {
		var out, err bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &out, err: &err, getenv: func(name string) string {
			return map[string]string{"RUNTIME_DIRECTORY": dir}[name]
		}}
		return a.run(t.Context(), append([]string{"reload"}, args...)), out.String() + err.String()
	}
	me := fmt.Sprint(os.Getpid())
	daemon := &app{getenv: func(string) string { return dir + ":/another" }}

	if code, said := ask(dir, "--pid", me); code != exitWrong || !strings.Contains(said, "ask for a reload") {
		t.Errorf("before the daemon wrote anything: %d, %s", code, said)
	}
	for n, taken := range []bool{true, false, true} {
		if err := daemon.answer(2*n, true); err != nil {
			t.Fatal(err)
		}
		go func() {
			<-hangups
			if err := daemon.answer(2*n+1, taken); err != nil {
				t.Error(err)
			}
		}()
		want, words := exitYes, ""
		if !taken {
			want, words = exitNo, "the new configuration is refused, the old one stays"
		}
		if code, said := ask(dir+":/another", "--pid", me); code != want || !strings.Contains(said, words) {
			t.Errorf("taken %v: %d, %s", taken, code, said)
		}
	}
	for _, c := range []struct {
		dir, pid, words string
	}{{"", me, "RUNTIME_DIRECTORY"}, {dir, "0", "--pid"}, {dir, "-1", "--pid"}} {
		if code, said := ask(c.dir, "--pid", c.pid); code != exitWrong || !strings.Contains(said, c.words) {
			t.Errorf("%+v: %d, %s", c, code, said)
		}
	}
}
