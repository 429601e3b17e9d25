package configs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"proxyward/scheduler"
)

func seeds() (out [][]byte) {
	for _, glob := range []string{"*.yaml", "testdata/bad/*.yaml"} {
		files, _ := filepath.Glob(glob)
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil {
				out = append(out, b)
			}
		}
	}
	return out
}

func TestUnits(t *testing.T) {
	spans := map[string]time.Duration{"250ms": 250 * time.Millisecond, "30d": 720 * time.Hour, "1.5d": 36 * time.Hour, "1d30m": 24*time.Hour + 30*time.Minute, "0": 0, "1h30m": 90 * time.Minute}
	for s, want := range spans {
		if got, ok := parseSpan(s); !ok || got != want {
			t.Errorf("%q is %s %v, want %s", s, got, ok, want)
		}
		if back, ok := parseSpan(writeSpan(want)); !ok || back != want {
			t.Errorf("%s is written %s", want, writeSpan(want))
		}
	}
	for _, s := range []string{"", "d", "5", "-1s", "1dd", "1d1d", "1h1d", "-1d", "1e3d", "NaNd", "infd", "99999d", "1 d", "9223372036854775807h"} {
		if got, ok := parseSpan(s); ok {
			t.Errorf("%q is the duration %s", s, got)
		}
	}
	sizes := map[string]int64{"1": 1, "64KiB": 65536, "1MiB": 1 << 20, "1.5 MiB": 3 << 19, "2GB": 2e9, "10kB": 1e4, "7B": 7}
	for s, want := range sizes {
		if got, ok := parseSize(s); !ok || got != want {
			t.Errorf("%q is %d %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "KiB", "-1", "1TiB", "0x10", "1e9", "99999999GiB", "1_000", "1Ki"} {
		if got, ok := parseSize(s); ok {
			t.Errorf("%q is the size %d", s, got)
		}
	}
	rates := map[string]float64{"200/s": 200, "60/m": 1, "1800/h": 0.5, "5": 5, "1.5/s": 1.5}
	for s, want := range rates {
		if got, ok := parseRate(s); !ok || got != want {
			t.Errorf("%q is %g %v, want %g", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "/s", "5/", "5/d", "x/s", "-5/s", "NaN", "Inf/s", "5/s/s"} {
		if got, ok := parseRate(s); ok {
			t.Errorf("%q is the rate %g", s, got)
		}
	}
	for s, want := range map[string]float64{"0.5": 0.5, "50%": 0.5, "12.5 %": 0.125, "0": 0} {
		if got, ok := parseShare(s); !ok || got != want {
			t.Errorf("%q is %g %v, want %g", s, got, ok, want)
		}
	}
	for s, want := range map[string]scheduler.Floor{"20": {Count: 20}, "10%": {Share: 0.1}, "0": {}} {
		if got, ok := parseFloor(s); !ok || got != want {
			t.Errorf("%q is %v %v, want %v", s, got, ok, want)
		}
	}
}

func TestCronExpressions(t *testing.T) {
	for _, s := range []string{"@every 1m", "*/10 * * * *", "@hourly", "@daily", "0 0 29 2 *", "CRON_TZ=Europe/Berlin 0 6 * * *", "0 6 * * MON-FRI"} {
		if _, ok := parseCron(s); !ok {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", "@every", "@every 1", "@every 999ms", "@every -1m", "@sometimes", "* * * *", "* * * * * *", "*/0 * * * *", "60 * * * *", "0 0 30 2 *", "TZ=UTC", "CRON_TZ=", "TZ=Nowhere/None * * * * *"} {
		if _, ok := parseCron(s); ok {
			t.Errorf("%q is accepted", s)
		}
	}
	if d, ok := parseTick("@every 90s"); !ok || d != 90*time.Second {
		t.Errorf("tick of 90 s: %s %v", d, ok)
	}
}

func TestNearestWords(t *testing.T) {
	known := []string{"timeout", "timeouts", "headers", "url"}
	for word, want := range map[string]string{"timeot": "timeout", "Headers": "headers", "ulr": "url", "colour": ""} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}
