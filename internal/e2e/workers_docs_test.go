package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// The commands of docs/workers.md are run in order, as they stand but for addresses, the
// sources' place, and the packages, which are there already.
func TestTheCommandsOfTheWorkersPageWork(t *testing.T) {
	t.Parallel()
	py := python(t, "redis", "requests", "httpx")
	node(t)
	testenv.Program(t, "redis-cli")
	text, err := os.ReadFile("../../docs/workers.md")
	if err != nil {
		t.Fatal(err)
	}
	site, url, dir := newTarget(t), testenv.Redis(t), t.TempDir()
	sources := whole(t, "../..")
	client := testenv.Client(t, url)
	for _, p := range []testenv.Proxy{testenv.Tinyproxy(t, testenv.ProxyOptions{Login: true}), testenv.Tinyproxy(t, testenv.ProxyOptions{})} {
		list, err := os.OpenFile(filepath.Join(dir, "proxies.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		list.WriteString(p.URL() + "\n")
		list.Close()
	}
	token := "none"
	ran, indent := 0, ""
	programs := []string{} // each an indented block that begins with an import
	for line := range strings.Lines(string(text)) {
		if bare := strings.TrimLeft(line, " "); indent == "" && bare != line && strings.HasPrefix(bare, "import ") {
			indent, programs = line[:len(line)-len(bare)], append(programs, "")
		}
		if indent != "" && (strings.HasPrefix(line, indent) || line == "\n") {
			programs[len(programs)-1] += strings.TrimPrefix(line, indent)
			continue
		}
		indent = ""
		command, is := strings.CutPrefix(line, "    ")
		if command = strings.TrimSpace(command); !is || command == "" {
			continue
		}
		at, head := dir, ""
		switch first, _, _ := strings.Cut(command, " "); {
		case strings.HasPrefix(command, "pip "), first == "local", first == "if", first == "return", strings.HasPrefix(command, "redis.call"):
			continue
		case command == "proxyward run":
			startBy(t, func(c *exec.Cmd) error { c.Dir = dir; return c.Start() }, "--config", filepath.Join(dir, "proxyward.yaml"))
			testenv.Eventually(t, 20*time.Second, "2 eligible", func() bool {
				return client.ZCard(t.Context(), "proxyward:{catalogue}:eligible").Val() == 2
			})
			continue
		case first == "proxyward": // worker-check: what it says is tested elsewhere
			command = strings.Replace(command, "1m", "2s", 1) + " || test $? = 1"
		case first == "redis-cli":
			at, command = sources, strings.Replace(command, "redis-cli", "redis-cli -u "+url, 1)
		case first == "REDIS_URL=redis://127.0.0.1:6379/0":
			at = filepath.Join(dir, "worker")
		case first == "HTTP=httpx", first == "python3", first == "go", first == "(cd", first == "sh":
			at, head = sources, "export CHECK=catalogue REDIS_URL="+url+" PROXYWARD_LUA="+sources+"/store/lua; "
		}
		command = strings.NewReplacer("https://shop.example/catalogue", site.HTTP+"/good", "redis://127.0.0.1:6379/0", url, "DIR/", sources+"/",
			"TOKEN", token, "python3 ", py+" ", "proxyward worker", binary+" worker", "npm ci && ", "").Replace(command)
		o := run(t, "/bin/sh", "-c", "cd "+at+" && "+head+command)
		if o.code != 0 || strings.Contains(o.out, "ERR") {
			t.Errorf("%s: exit status %d\n%s%s", command, o.code, o.out, o.err)
		}
		if strings.Contains(command, "acquire.lua") {
			token = lines(o.out)[1]
		}
		if strings.Contains(command, "release.lua") && strings.TrimSpace(o.out) != "1" {
			t.Errorf("release: %s", o.out)
		}
		if strings.HasSuffix(command, "/good 5") && strings.Count("\n"+o.out, "\n200 ") != 5 {
			t.Errorf("%s: %s%s", command, o.out, o.err)
		}
		ran++
	}
	if ran < 12 || len(programs) != 2 {
		t.Errorf("%d commands and %d programs", ran, len(programs))
	}
	for _, program := range programs {
		program = strings.NewReplacer("https://shop.example/catalogue", site.HTTP+"/good", "redis://127.0.0.1:6379/0", url).Replace(program)
		mine := filepath.Join(dir, "worker", "mine.py")
		if err := os.WriteFile(mine, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		if o := run(t, py, mine); o.code != 0 || strings.Trim(o.out, "20\n") != "" || !strings.HasPrefix(o.out, "200\n") {
			t.Errorf("%s\nexit status %d: %s%s", program, o.code, o.out, o.err)
		}
	}
}
