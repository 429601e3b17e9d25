package configs

import (
	"reflect"
	"strings"
	"testing"
)

const before = `
redis: {url: "redis://:s3cret@127.0.0.1/0"}
log: {level: info}
checks:
  - name: a
    request: {url: "https://shop.example/", headers: {Authorization: s3cret, Accept: text/html}, body: s3cret}
    recheck: 5m
    endpoints: [{file: p.txt}]
  - name: gone
    request: {url: "https://shop.example/"}
    endpoints: [{file: p.txt}]
`

func TestDifferencesAreToldByPathAndWithoutSecrets(t *testing.T) {
	after := strings.NewReplacer("level: info", "level: debug", "recheck: 5m", "recheck: 1m", "Authorization: s3cret", "Authorization: 0ther",
		"body: s3cret", "body: 0ther", "redis://:s3cret@", "redis://:0ther@", "name: gone", "name: new", "text/html", "text/plain").Replace(before)
	old, c := parse(t, before), parse(t, after)
	want := `checks[a].recheck: 5m → 1m
checks[a].request.body: changed (not shown)
checks[a].request.headers.Accept: text/html → text/plain
checks[a].request.headers.Authorization: changed (not shown)
checks[gone]: removed
checks[new]: added
log.level: info → debug
redis.url: changed (not shown)`
	got := strings.Join(c.Differences(old), "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(got, "s3cret") || strings.Contains(got, "0ther") {
		t.Error("a secret is told")
	}
	if same := parse(t, before+"\n# a comment").Differences(old); len(same) > 0 {
		t.Error(same)
	}
}

// The same file makes checks that pass for the same; another secret does not.
func TestACheckIsTheSameAsLongAsWhatItWasMadeOf(t *testing.T) {
	old := parse(t, before)
	for text, same := range map[string]bool{before: true, strings.Replace(before, "Authorization: s3cret", "Authorization: x", 1): false,
		strings.Replace(before, "recheck: 5m", "recheck: 300s", 1): true, strings.Replace(before, "recheck: 5m", "recheck: 301s", 1): false} {
		c := parse(t, text)
		if got := reflect.DeepEqual(c.Checks[0].Made, old.Checks[0].Made); got != same {
			t.Errorf("same %v, want %v", got, same)
		}
	}
}
