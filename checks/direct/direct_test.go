package direct_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"proxyward/checks"
	"proxyward/checks/direct"
	"proxyward/internal/zoo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestControlProbeGoesDirectly(t *testing.T) {
	site := zoo.Target(t, nil)
	local := func(url string) string { return strings.Replace(url, zoo.Name, "localhost", 1) }
	for url, expected := range map[string]string{
		local(site.HTTP("/")):                                           "true   ",
		local(site.HTTPS("/")):                                          "true   ",
		"http://" + zoo.Refused(t).String() + "/":                       "false tunnel upstream_refused target",
		zoo.Serve(t, zoo.Silent).URL("http", ""):                        "false headers timeout target",
		zoo.Serve(t, zoo.Listen).URL("http", ""):                        "false headers eof target",
		zoo.Serve(t, zoo.Say("HTTP/1.1 500 x\r\n\r\n")).URL("http", ""): "false verify http_status target",
	} {
		c, err := checks.Compile(checks.Spec{Steps: []checks.Step{{Request: checks.Request{URL: url, Timeouts: checks.Timeouts{FirstByte: 100 * time.Millisecond},
			TLS: checks.TLS{CAFile: site.CA.File(t, t.TempDir())}}}}})
		if err != nil {
			t.Fatal(err)
		}
		v := direct.Run(t.Context(), c)
		if got := fmt.Sprint(v.Passed, " ", v.Stage, " ", v.Reason, " ", v.Blame); got != expected {
			t.Errorf("%s: %s (%s), want %s", url, got, v.Detail, expected)
		}
	}
	for _, a := range site.Plain.Sources() {
		if a.String() == zoo.ProxySource {
			t.Error("it went through a proxy")
		}
	}
}

// The prober must not be able to reach a target but through a proxy.
func TestNobodyWhoProbesImportsThisPackage(t *testing.T) {
	for _, dir := range []string{"..", "../../prober"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, f := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range tree.Imports {
				if strings.Contains(i.Path.Value, "checks/direct") {
					t.Errorf("%s imports it", f)
				}
			}
		}
	}
}
