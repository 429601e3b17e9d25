package cli

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// fields PATH... fails unless every line of the last standard output is JSON that has
// these fields; a path goes into objects and arrays: checks.0.states.eligible.
func fields(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: fields PATH...")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	for _, line := range lines {
		var v any
		ts.Check(json.Unmarshal([]byte(line), &v))
		for _, path := range args {
			if !has(v, strings.Split(path, ".")) {
				ts.Fatalf("no field %s in %s", path, line)
			}
		}
	}
}

func has(v any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		inner, found := v[path[0]]
		return found && has(inner, path[1:])
	case []any:
		i, err := strconv.Atoi(path[0])
		return err == nil && i < len(v) && has(v[i], path[1:])
	}
	return false
}

// eventually PATTERN COMMAND... runs the command again and again until it succeeds with
// output that matches.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN COMMAND...")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	for until := time.Now().Add(15 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if err == nil && pattern.MatchString(out) {
			return
		}
		if time.Now().After(until) {
			ts.Fatalf("no %q in 15 s; the last output was %q, %v", args[0], out, err)
		}
	}
}

// nocanary FILE... fails if the password of the tests is in one of the files (stdout and
// stderr are those of the last command), in the clear or as Basic credentials.
func noCanary(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		for _, secret := range []string{canary, base64.StdEncoding.EncodeToString([]byte("joe:" + canary))} {
			if strings.Contains(text, secret) != neg {
				ts.Fatalf("%s has the password: %v, in:\n%s", name, !neg, text)
			}
		}
		if neg {
			return
		}
	}
}

// envsubst FILE... replaces $NAME by the script's variables.
func substitute(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		text := os.Expand(ts.ReadFile(name), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}
