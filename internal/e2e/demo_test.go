package e2e_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestTheDemoShowsWhoIsInWhoIsOutAndWhyAndWhoCameBack(t *testing.T) {
	t.Parallel()
	began := time.Now()
	o := proxyward(t, "demo", "--for", "15s", "--redis", "embedded://127.0.0.1:0")
	if took := time.Since(began); o.code != 0 || took < 14*time.Second || took > 20*time.Second {
		t.Errorf("exit status %d after %v\n%s", o.code, took, o.err)
	}
	for _, want := range []string{
		`(?m)^eligible +\S+://\S+`,
		`(?m)^cooling +\S+://\S+ .* proxy_auth\.auth_rejected: `,
		`(?m)^cooling +\S+://\S+ .* connect\.refused: `,
		`came back`,
		`proxyward allocate --redis redis://127\.0\.0\.1:\d+/0`,
		`--eval store/lua/allocate\.lua 'proxyward:\{demo\}:eligible'`,
	} {
		if !regexp.MustCompile(want).MatchString(o.out) {
			t.Errorf("the demo does not show %s", want)
		}
	}
	if t.Failed() {
		t.Log(o.out)
	}
	if strings.Contains(o.out, "\x1b[") {
		t.Error("escape sequences, yet this is no terminal")
	}
}
