package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// outcome is what a command did.
type outcome struct {
	code     int
	out, err string
	peak     int64 // the largest resident memory, bytes
}

// run executes a program to its end, for half a minute at most.
func run(t *testing.T, path string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out, err bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &out, &err
	failed := cmd.Run()
	if exit := (*exec.ExitError)(nil); failed != nil && !errors.As(failed, &exit) || ctx.Err() != nil {
		t.Fatalf("%s %s: %v %v\n%s%s", path, strings.Join(args, " "), failed, ctx.Err(), out.String(), err.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return outcome{cmd.ProcessState.ExitCode(), out.String(), err.String(), usage.Maxrss << 10}
}

// proxyward executes one command of the product.
func proxyward(t *testing.T, args ...string) outcome {
	t.Helper()
	return run(t, binary, args...)
}

// ok executes one command that must succeed and returns its output.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	o := proxyward(t, args...)
	if o.code != 0 {
		t.Fatalf("proxyward %s: exit status %d\n%s%s", strings.Join(args, " "), o.code, o.out, o.err)
	}
	return o.out
}

// redisCLI is what Redis's own client says.
func redisCLI(t *testing.T, args ...string) string {
	t.Helper()
	o := run(t, testenv.Program(t, "redis-cli"), args...)
	if o.code != 0 {
		t.Fatalf("redis-cli %s: %s%s", strings.Join(args, " "), o.out, o.err)
	}
	return strings.TrimSuffix(o.out, "\n")
}

// lines splits output, the empty output into none.
func lines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// explained is the part of `explain --json` that tests look at.
type explained struct {
	Record struct {
		State, Stage, Reason, Blame, Detail, Note string
		PauseMs                                   int64 `json:"pause_ms"`
		LastProbeMs                               int64 `json:"last_probe_ms"`
		Classes                                   map[string]struct{ N int }
		Holds, Sources                            []string
	}
	History []struct {
		From, To, Stage, Reason, By, Probe string
		PauseMs                            int64 `json:"pause_ms"`
	}
}

func explain(t *testing.T, config, id string) explained {
	t.Helper()
	return decode[explained](t, ok(t, "explain", "--config", config, "--json", id))
}
