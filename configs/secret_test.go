package configs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestSecretsDoNotPrint(t *testing.T) {
	type holder struct {
		Open   Secret
		hidden Secret
	}
	s := NewSecret("hunter2")
	for _, v := range []any{s, &s, holder{s, s}, &holder{s, s}, []Secret{s}, map[string]Secret{"a": s}, Redis{Password: s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%p"} {
			if out := fmt.Sprintf(verb, v); strings.Contains(out, "hunter2") || strings.Contains(out, fmt.Sprintf("%x", "hunter2")) {
				t.Errorf("%s of %T: %s", verb, v, out)
			}
		}
		j, err := json.Marshal(v)
		if err != nil || strings.Contains(string(j), "hunter2") {
			t.Errorf("JSON of %T: %s %v", v, j, err)
		}
		if y, _ := yaml.Marshal(v); strings.Contains(string(y), "hunter2") {
			t.Errorf("YAML of %T: %s", v, y)
		}
	}
	if s.Reveal() != "hunter2" || s.IsZero() || !NewSecret("").IsZero() || s.String() != redacted {
		t.Error("a secret is not what it was made of")
	}
}

func fingerprint(t *testing.T, check string) string {
	t.Helper()
	return parse(t, "checks:\n  - {name: a, "+check+"}").Checks[0].Fingerprint
}

func TestFingerprints(t *testing.T) {
	plain := fingerprint(t, `request: {url: "https://shop.example/"}`)
	same := map[string]string{
		"a default written out":   `request: {url: "https://shop.example/", method: GET, timeout: 15000ms}, rise: 1`,
		"another way to write it": `rise: 1, recheck: 300s, request: {"url": 'https://shop.example/'}`,
	}
	for name, check := range same {
		if fingerprint(t, check) != plain {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	seen := map[string]string{plain: "plain"}
	for _, check := range []string{
		`request: {url: "https://shop.example/2"}`,
		`request: {url: "https://shop.example/"}, rise: 2`,
		`request: {url: "https://shop.example/", headers: {X-A: b}}`,
		`request: {url: "https://shop.example/", headers: {X-A: "${env:REDIS_USER}"}}`,
		`request: {url: "https://shop.example/"}, endpoints: [{file: a}]`,
		`request: {url: "https://shop.example/"}, guard: {enabled: false}`,
		`request: {url: "https://shop.example/"}, cooldown: {reasons: {connect: {base: 1s}}}`,
	} {
		f := fingerprint(t, check)
		if other, again := seen[f]; again {
			t.Errorf("%s has the fingerprint of %s", check, other)
		}
		seen[f] = check
	}
}

func TestFingerprintsDoNotFollowSecrets(t *testing.T) {
	pairs := map[string][2]string{
		"a literal credential": {
			`request: {url: "https://shop.example/", headers: {authorization: one}}`,
			`request: {url: "https://shop.example/", headers: {authorization: two}}`,
		},
		"a password in a list's URL": {
			`request: {url: "https://shop.example/"}, endpoints: [{url: "https://u:one@lists.example/"}]`,
			`request: {url: "https://shop.example/"}, endpoints: [{url: "https://u:two@lists.example/"}]`,
		},
	}
	for name, p := range pairs {
		if fingerprint(t, p[0]) != fingerprint(t, p[1]) {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	source := least + `    expect: {body_contains: ["${env:ROTATED}"]}`
	var prints []string
	for _, value := range []string{"one", "two"} {
		env := testEnv()
		env.Lookup = func(string) (string, bool) { return value, true }
		c, err := Parse("f", []byte(source), env)
		if err != nil {
			t.Fatal(err)
		}
		prints = append(prints, c.Checks[0].Fingerprint)
	}
	if prints[0] != prints[1] {
		t.Error("a rotated reference changes the fingerprint")
	}
}
