package checks

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"0", "120", " 5 ", "1.5", "-1", "99999999999999999999", "Mon, 02 Jan 2006 15:06:05 GMT", "Monday, 02-Jan-06 15:06:05 GMT", "Mon Jan  2 15:06:05 2006", "soon", "."} {
		f.Add(s)
	}
	now := time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, v string) {
		if d := parseRetryAfter(v, now); d < 0 || d > maxRetryAfter {
			t.Fatal(d)
		}
	})
}

func FuzzProxyStatus(f *testing.F) {
	for _, s := range []string{`p; error=dns_error`, `a, b; error=connection_refused; details="x, y; error=z"`, `"quo\"ted; error=x"; error="dns_timeout"`, `;;;,,,`, `p;error`, `p; error=`, `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, v string) {
		for _, e := range proxyStatusErrors(v) {
			if strings.Count(v, "error") == 0 || strings.ContainsRune(e, ';') && !strings.Contains(v, `"`) {
				t.Fatalf("%q out of %q", e, v)
			}
		}
	})
}

func TestProxyStatusErrors(t *testing.T) {
	for v, want := range map[string][]string{
		`p; error=dns_error`: {"dns_error"}, `p;error="dns_error"`: {"dns_error"}, `a; error=x, b; error=Y`: {"x", "y"},
		`a; details="b; error=x"`: nil, `error=x`: nil, `a; details="\"; error=x"`: nil, `"a, b"; error=x`: {"x"}, ``: nil,
	} {
		if got := proxyStatusErrors(v); !slices.Equal(got, want) {
			t.Errorf("%s: %q", v, got)
		}
	}
}
