package store

import (
	"bufio"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// names are the commands of a list of needs, sorted.
func names(lists ...[]string) (all []string) {
	for _, list := range lists {
		for _, need := range list {
			all = append(all, commandOf(need))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func sources(t *testing.T, pattern string) (text string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, "_test.go") {
			text += string(b)
		}
	}
	return text
}

// differ: what is used must be listed, here or elsewhere, and what is listed here be used.
func differ(t *testing.T, what string, used, listed []string, elsewhere ...string) {
	t.Helper()
	for _, c := range used {
		if !slices.Contains(listed, c) && !slices.Contains(elsewhere, c) {
			t.Errorf("%s use %s: list it", what, c)
		}
	}
	for _, c := range listed {
		if !slices.Contains(used, c) {
			t.Errorf("%s do not use %s: strike it out", what, c)
		}
	}
}

func TestTheNeedsAreWhatScriptsCall(t *testing.T) {
	used := []string{}
	for _, m := range regexp.MustCompile(`redis\.p?call\('(\w+)'`).FindAllStringSubmatch(sources(t, "lua/*.lua"), -1) {
		used = append(used, strings.ToLower(m[1]))
	}
	slices.Sort(used)
	differ(t, "scripts", slices.Compact(used), names(scriptNeeds))
}

// What the code calls is seen by the names of the client's methods.
func TestTheNeedsAreWhatTheCodeCalls(t *testing.T) {
	same := map[string]string{"zrangewithscores": "zrange", "zrangebyscorewithscores": "zrangebyscore", "xrangen": "xrange", "xrevrangen": "xrevrange", "xgroupcreate": "xgroup|create",
		"xgroupcreatemkstream": "xgroup|create", "xgroupdelconsumer": "xgroup|delconsumer", "xinfoconsumers": "xinfo|consumers", "txpipeline": "multi", "txpipelined": "multi"}
	own := []string{"ping", "time", "info", "configget", "clusterinfo", "scriptexists", "do", "conn", "pipeline", "close", "process", "options"} // of doctor, or no command
	methods := reflect.TypeFor[*redis.Client]()
	used := []string{"eval", "evalsha", "zmscore"} // by words
	for _, m := range regexp.MustCompile(`\b(?:client|node|tx|pipe)\.([A-Z]\w+)`).FindAllStringSubmatch(sources(t, "*.go"), -1) {
		name := strings.ToLower(m[1])
		if _, is := methods.MethodByName(m[1]); !is && m[1] != "Exec" || slices.Contains(own, name) {
			continue
		}
		if s := same[name]; s != "" {
			name = s
		}
		used = append(used, name)
	}
	slices.Sort(used)
	differ(t, "store's files", slices.Compact(used), names(directNeeds), names(scriptNeeds)...)
}

// configs/redis-acl.conf allows proxyward all of these, and beside them only what doctor
// asks and what a client does to connect.
func TestTheACLAllowsTheNeedsAndNoMore(t *testing.T) {
	f, err := os.Open("../configs/redis-acl.conf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var allowed []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, "user proxyward ") {
			for _, m := range regexp.MustCompile(`\+([a-z][a-z|]*)`).FindAllStringSubmatch(line, -1) {
				allowed = append(allowed, m[1])
			}
		}
	}
	around := []string{"client|setname", "cluster|info", "cluster|shards", "cluster|slots", "discard", "info", "script|exists"}
	differ(t, "needs", append(names(scriptNeeds, directNeeds), around...), allowed)
}

// What doctor says of volatile policies stands on this: nothing gives a key an expiry.
func TestNoKeyOfAPoolExpires(t *testing.T) {
	for _, name := range names(scriptNeeds, directNeeds) {
		if strings.Contains(name, "expire") || slices.Contains([]string{"set", "setex", "psetex", "getex", "hsetex", "restore"}, name) {
			t.Errorf("%s can set an expiry", name)
		}
	}
}
