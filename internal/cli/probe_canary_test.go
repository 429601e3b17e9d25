package cli

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProbeTellsNoSecret runs probe in every form against proxies that give back all they were
// sent, in headers, phrases and pages: passwords, request headers, cookies, parameters of
// the URL and the body may stand in no output, good or bad.
func TestProbeTellsNoSecret(t *testing.T) {
	const mark = "canary-4f7d"
	echo := func(status int) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			for name, values := range r.Header {
				w.Header().Set("X-Echo-"+name, values[0])
			}
			w.Header().Set("X-Squid-Error", r.Header.Get("Authorization")+" "+r.URL.RawQuery)
			w.Header().Set("Server", "squid "+r.Header.Get("Cookie"))
			w.Header().Set("Location", "http://elsewhere.example/"+r.URL.RawQuery)
			w.WriteHeader(status)
			fmt.Fprintf(w, "%v %s %s", r.Header, r.URL, body)
		})}
		t.Cleanup(func() { s.Close() })
		go s.Serve(l)
		return "http://ann:" + mark + "-password@" + l.Addr().String()
	}
	proxies := []string{echo(200), echo(302), echo(407), echo(502), "socks5h://ann:" + mark + "-password@127.0.0.1:1"}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	list := write("list", strings.Join(proxies, "\n"))
	check := `request: {method: POST, url: "http://target.example/a?key=` + mark + `-parameter", body: "` + mark + `-body",
      headers: {Authorization: "Bearer ` + mark + `-header", Cookie: "sid=` + mark + `-cookie", X-Api-Key: "` + mark + `-key"}}`
	good := write("good.yaml", "redis: {url: 'embedded://127.0.0.1:0'}\nchecks:\n  - name: shop\n    "+check+"\n    endpoints: [{file: "+list+"}]\n")
	bad := write("bad.yaml", "redis: {url: 'embedded://127.0.0.1:0'}\nchecks:\n  - name: shop\n    "+strings.Replace(check, "POST", "P OST", 1)+"\n    endpoints: [{file: "+list+"}]\n")
	secrets := []string{mark, base64.StdEncoding.EncodeToString([]byte("ann:" + mark + "-password"))}
	if text := oneShot(t, "probe", "--config", good, "--json"); !strings.Contains(text, `"reason":"auth_rejected"`) || !strings.Contains(text, `"passed":true`) {
		t.Fatalf("this test looks at the wrong text:\n%s", text)
	}
	for _, form := range [][]string{nil, {"-v"}, {"--json"}, {"--json", "-v"}, {"--csv"}, {"--csv", "-v"}} {
		commands := [][]string{append([]string{"probe", "--config", good}, form...), append([]string{"probe", "--config", bad}, form...)}
		for _, p := range append(proxies, "http://ann:"+mark+"-password@no..host:1") {
			commands = append(commands, append([]string{"probe", "--config", good, "--endpoint", p}, form...))
		}
		commands = append(commands, append([]string{"probe", "-e", proxies[1], "--target", "http://joe:" + mark + "-user@target.example/?key=" + mark + "-parameter"}, form...))
		for _, args := range commands {
			text := oneShot(t, args...)
			for _, s := range secrets {
				if strings.Contains(text, s) {
					t.Errorf("%v tells a secret:\n%s", form, text)
				}
			}
			if text == "" {
				t.Errorf("%v tells nothing", args)
			}
		}
	}
}
