package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// TestExitStatuses holds the three answers apart: yes, no, and bad input or surroundings.
func TestExitStatuses(t *testing.T) {
	list := listFile(t, "127.0.0.1:1")
	const target = "http://target.example/"
	for _, c := range []struct {
		name string
		want int
		args []string
	}{
		{"help", exitYes, []string{"--help"}},
		{"version", exitYes, []string{"version"}},
		{"a list that is fine", exitYes, []string{"import", list, "--dry-run"}},
		{"a failed probe", exitNo, []string{"probe", "-e", "http://127.0.0.1:1", "--target", target}},
		{"a failed probe among many", exitNo, []string{"probe", "--list", list, "-e", "http://127.0.0.1:2", "--target", target}},
		{"no such command", exitWrong, []string{"nonsense"}},
		{"no such flag", exitWrong, []string{"status", "--nonsense"}},
		{"a missing argument", exitWrong, []string{"explain"}},
		{"an unreadable list", exitWrong, []string{"probe", "--list", list + ".absent", "--target", target}},
		{"no Redis", exitWrong, []string{"status", "--redis", "redis://127.0.0.1:1/0"}},
		{"no configuration", exitWrong, []string{"status", "--config", list + ".absent"}},
		{"a configuration that is none", exitWrong, []string{"validate", "--config", list}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			a := &app{in: strings.NewReader(""), out: &out, err: &errs, getenv: func(string) string { return "" }}
			if got := a.run(context.Background(), c.args); got != c.want {
				t.Errorf("status %d, want %d; stderr: %s", got, c.want, errs.String())
			}
			if c.want == exitWrong && (out.Len() > 0 || errs.Len() == 0 || strings.Contains(errs.String(), "Usage:")) {
				t.Errorf("stdout %q, stderr %q: want one sentence on stderr", out.String(), errs.String())
			}
		})
	}
}
