package witness

import (
	"crypto/sha1"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proxyward/store"
)

// tooOften is how many answers "nobody" in one second show that a client does not wait.
const tooOften = 20

// Tape judges what MONITOR tells, command by command. Redis executes one at a time: what a
// script does follows the line that called it.
type Tape struct {
	found   *findings
	keys    []string          // of the pool, that workers change by scripts only; eligible first
	digests map[string]string // of scripts that may: name, empty for the daemons' own
	readers map[string]bool   // clients that read the eligible set by themselves

	name, who, second string // of the script that is being told of
	gave              bool   // it counted an allocation
	empty             map[string]int
	allocations, nils int64
}

func newTape(keys []string, found *findings) *Tape {
	t := &Tape{found: found, keys: keys, digests: map[string]string{}, readers: map[string]bool{}, empty: map[string]int{}}
	for _, digest := range store.ScriptDigests() {
		t.digests[digest] = ""
	}
	for name, text := range store.WorkersScripts() {
		for _, form := range []string{text, text + "\n", strings.TrimRight(text, "\n"), strings.ReplaceAll(text, "\n", "\r\n")} {
			t.digests[digest(form)] = name
		}
	}
	return t
}

func digest(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

var (
	origin = regexp.MustCompile(`^([0-9]+)\.[0-9]+ \[[0-9]+ ([^\]]+\]?[^\]]*)\] `)
	word   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// Line takes one line of MONITOR.
func (t *Tape) Line(line string) {
	line = strings.TrimPrefix(line, "+")
	m := origin.FindStringSubmatch(line)
	if m == nil {
		return
	}
	var words []string
	for _, quoted := range word.FindAllString(line[len(m[0]):], -1) {
		text, err := strconv.Unquote(quoted)
		if err != nil {
			text = quoted
		}
		words = append(words, text)
	}
	if len(words) == 0 {
		return
	}
	words[0] = strings.ToLower(words[0])
	if m[2] == "lua" {
		t.inside(words)
		return
	}
	t.finish()
	t.second, t.who = m[1], m[2]
	t.called(words)
}

// inside is a command of the script that is being told of.
func (t *Tape) inside(w []string) {
	if w[0] == "zincrby" && len(w) == 4 && w[1] == t.keys[0] {
		t.allocations++
		t.gave = true
	}
}

// finish ends the script that was told of.
func (t *Tape) finish() {
	if takes := t.name == "allocate" || t.name == "allocate_url" || t.name == "acquire"; takes && !t.gave {
		t.nils++
		key := t.who + " " + t.second
		if len(t.empty) > 10_000 {
			clear(t.empty)
		}
		if t.empty[key]++; t.empty[key] == tooOften {
			t.found.add(NoPause, t.who, "asks an empty pool more than "+strconv.Itoa(tooOften)+" times a second")
		}
	}
	t.name, t.gave = "", false
}

// called is a command of a client.
func (t *Tape) called(w []string) {
	switch w[0] {
	case "eval", "evalsha":
		t.script(w)
		return
	case "zrange", "zrangebyscore", "zrevrange", "zscan", "zrandmember":
		if len(w) > 1 && w[1] == t.keys[0] && len(t.readers) < 10_000 {
			t.readers[t.who] = true
		}
		return
	case "zincrby", "zadd", "zpopmin", "zpopmax", "bzpopmin", "bzpopmax", "zmpop", "bzmpop", "zrangestore", "zunionstore",
		"zinterstore", "zdiffstore", "zremrangebyrank", "zremrangebyscore", "zrem", "hset", "hincrby", "hdel", "set", "rename":
	default:
		return
	}
	for _, key := range t.keys {
		if !slices.Contains(w[1:], key) || w[0] == "zrem" && key == t.keys[2] { // the daemon's repair removes what is no token
			continue
		}
		_, part, _ := strings.Cut(key, "}:")
		rule, what := OwnWrite, strings.ToUpper(w[0])+" on "+part+" without the script"
		if w[0] == "zincrby" && t.readers[t.who] {
			rule, what = ReadWrite, "reads "+part+", then ZINCRBY: that brings removed members back"
		}
		if w[0] == "zincrby" && key == t.keys[0] {
			t.allocations++
		}
		t.found.add(rule, t.who, what)
		return
	}
}

// script is a call of one.
func (t *Tape) script(w []string) {
	if len(w) < 3 {
		return
	}
	n, err := strconv.Atoi(w[2])
	if err != nil || n < 1 || len(w) < 3+n {
		return
	}
	sum := strings.ToLower(w[1])
	if w[0] == "eval" {
		sum = digest(w[1])
	}
	name, ours := t.digests[sum]
	for _, key := range w[3 : 3+n] {
		if !ours && slices.Contains(t.keys, key) {
			_, part, _ := strings.Cut(key, "}:")
			t.found.add(OtherScript, t.who, "calls a script on "+part+" that is none of this version's")
			return
		}
	}
	if len(w) > 3 && (w[3] == t.keys[0] || name != "allocate" && name != "allocate_url" && name != "acquire") {
		t.name = name
	}
}

// close ends the tape.
func (t *Tape) close() (allocations, nils int64, exact bool) {
	t.finish()
	return t.allocations, t.nils, true
}
