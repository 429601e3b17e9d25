package witness

import (
	"strings"
	"testing"

	"proxyward/store"
)

var poolKeys = []string{"p:{c}:eligible", "p:{c}:inflight", "p:{c}:jobs", "p:{c}:engaged"}

// Each story is lines of MONITOR without their times; A and B are clients.
func TestTheTapeTellsWhoBreaksTheContract(t *testing.T) {
	allocate := digest(store.WorkersScripts()["allocate"])
	took := `A "EVALSHA" "` + allocate + `" "1" "p:{c}:eligible"
lua "ZRANGE" "p:{c}:eligible" "0" "0"
lua "ZINCRBY" "p:{c}:eligible" "1" "http://192.0.2.1:1"
`
	nobody := `A "EVALSHA" "` + allocate + `" "1" "p:{c}:eligible"
lua "ZRANGE" "p:{c}:eligible" "0" "0"
`
	for _, c := range []struct {
		name, lines       string
		allocations, nils int64
		want              string // rules
	}{
		{"an allocation", took, 1, 0, ""},
		{"two and nothing between", took + took, 2, 0, ""},
		{"of an empty pool", nobody, 0, 1, ""},
		{"asked again and again", strings.Repeat(nobody, tooOften), 0, tooOften, "no-pause"},
		{"almost as often", strings.Repeat(nobody, tooOften-1), 0, tooOften - 1, ""},
		{"by the text", `A "EVAL" "` + strings.ReplaceAll(strings.ReplaceAll(store.WorkersScripts()["allocate"], "\n", `\n`), `"`, `\"`) + "\" \"1\" \"p:{c}:eligible\"\n" + took, 1, 1, ""},
		{"by the daemon's scripts", `A "EVALSHA" "` + store.ScriptDigests()[0] + `" "1" "p:{c}:eligible"`, 0, 1, ""},
		{"a script of its own", `A "EVAL" "return redis.call('ZINCRBY', KEYS[1], 1, 'x')" "1" "p:{c}:eligible"`, 0, 0, "other-script"},
		{"a script of its own on other keys", `A "EVAL" "return 1" "1" "mine"`, 0, 0, ""},
		{"an increment", `A "ZINCRBY" "p:{c}:eligible" "1" "http://192.0.2.1:1"`, 1, 0, "own-write"},
		{"a read, then an increment", `A "zrange" "p:{c}:eligible" "0" "0"` + "\n" + `A "ZINCRBY" "p:{c}:eligible" "1" "http://192.0.2.1:1"`, 1, 0, "read-then-write"},
		{"another's read", `B "zrange" "p:{c}:eligible" "0" "0"`, 0, 0, ""},
		{"in another pool", `A "ZINCRBY" "p:{d}:eligible" "1" "x"`, 0, 0, ""},
		{"a job ended by hand", `A "ZREM" "p:{c}:inflight" "x"`, 0, 0, "own-write"},
		{"what the repair does", `A "ZREM" "p:{c}:jobs" "x"`, 0, 0, ""},
		{"rubbish", "OK\n\n[0 \"\"] \"", 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f findings
			tape := newTape(poolKeys, &f)
			for line := range strings.Lines(c.lines) {
				who, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				if who == "A" || who == "B" {
					who = "127.0.0.1:100" + who
				}
				tape.Line("1796087296.742001 [0 " + who + "] " + rest)
			}
			allocations, nils, _ := tape.close()
			rules := ""
			for _, found := range f.sorted() {
				rules += string(found.Rule)
			}
			if allocations != c.allocations || nils != c.nils || rules != c.want {
				t.Errorf("%d allocations, %d of nobody, rules %q", allocations, nils, rules)
			}
		})
	}
}
