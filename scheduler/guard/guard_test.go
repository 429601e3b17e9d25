package guard

import (
	"fmt"
	"strings"
	"testing"

	"proxyward/checks/verdict"
)

// results writes kinds, newest first, each of an endpoint and a host of its own unless
// hosts says how many hosts share them.
func results(kinds string, hosts int) (list []Result) {
	for i, k := range strings.Split(kinds, "") {
		list = append(list, Result{ID: fmt.Sprint(i), Host: fmt.Sprint(i % hosts), Kind: Kind(k), AtMs: int64(1000 - i)})
	}
	return list
}

// since0 is an opening before every result.
func since0(open bool) int64 { return map[bool]int64{true: 1}[open] }

func TestWhenTheGuardOpensAndCloses(t *testing.T) {
	rules := Rules{Enabled: true, TargetShare: 0.6, AllShare: 0.95}
	for _, c := range []struct {
		what     string
		kinds    string
		hosts    int
		eligible int
		open     bool
		want     Decision
	}{
		{"everything passes", "pppppppppp", 10, 10, false, Stay},
		{"the target fails for six of ten", "ttttttpppp", 10, 10, false, Open},
		{"the target fails for five of ten", "tttttppppp", 10, 10, false, Stay},
		{"four of ten proxies die", "ffffpppppp", 10, 10, false, Stay},
		{"nine of ten proxies die", "fffffffffp", 10, 10, false, Stay},
		{"all ten fail at the connect", "ffffffffff", 10, 10, false, Open},
		{"a gateway: one host is all there is", "tttttttttt", 1, 10, false, Open},
		{"too few to tell", "tttt", 4, 4, false, Stay},
		{"five are enough", "ttttt", 5, 5, false, Open},
		{"only the last twenty count", strings.Repeat("t", 12) + strings.Repeat("p", 38), 50, 1000, false, Open},
		{"what was before the last twenty does not", strings.Repeat("p", 20) + strings.Repeat("t", 30), 50, 1000, false, Stay},
		{"open, and seven of ten pass", "pppppppttt", 10, 10, true, Stay},
		{"open, and eight of ten pass", "pppppppptt", 10, 10, true, Close},
		{"open, and it still fails", "tttttttttt", 10, 10, true, Stay},
		{"open, and over a long run more pass than fail", strings.Repeat("pppft", 8), 40, 1000, true, Close},
		{"open, and half fail", strings.Repeat("pt", 20), 40, 1000, true, Stay},
		{"open, and the run is short yet", strings.Repeat("pppft", 7), 35, 1000, true, Stay},
		{"open, one endpoint is left, and passes", "p", 1, 1, true, Close},
		{"open, and nobody is left to tell", "", 1, 0, true, Stay},
	} {
		d, why, since := rules.Judge(results(c.kinds, c.hosts), c.eligible, since0(c.open))
		if d != c.want {
			t.Errorf("%s: %v (%s)", c.what, d, why)
		}
		if d == Open && (why == "" || since == 0) {
			t.Errorf("%s: opened without saying why or since when", c.what)
		}
	}
	if d, _, _ := (Rules{}).Judge(results("tttttttttt", 10), 10, 0); d != Stay {
		t.Error("opened though it is switched off")
	}
	if d, _, _ := (Rules{}).Judge(results("tttttttttt", 10), 10, 1); d != Close {
		t.Error("stays open though it is switched off")
	}
}

// What failed before it opened tells nothing of the target now.
func TestOnlyWhatCameAfterTheOpeningClosesIt(t *testing.T) {
	rules := Rules{Enabled: true, TargetShare: 0.6, AllShare: 0.95}
	list := results("ppptttttttttttttttttttt", 23) // at 1000, 999, ...
	for _, c := range []struct {
		eligible int
		openMs   int64
		want     Decision
	}{{3, 997, Close}, {4, 997, Stay}, {3, 998, Stay}, {3, 996, Close}, {4, 996, Close}, {23, 1, Stay}} {
		if d, why, _ := rules.Judge(list, c.eligible, c.openMs); d != c.want {
			t.Errorf("%d eligible, open since %d: %v (%s)", c.eligible, c.openMs, d, why)
		}
	}
}

func TestFailuresAtTwoHostsOfManyDoNotOpenIt(t *testing.T) {
	list := results(strings.Repeat("t", 16)+strings.Repeat("p", 20), 36)
	for i := range 16 {
		list[i].Host = fmt.Sprint("bad", i%2)
	}
	rules := Rules{Enabled: true, TargetShare: 0.6, AllShare: 0.95}
	if d, why, _ := rules.Judge(list, 30, 0); d != Stay {
		t.Errorf("%v: %s", d, why)
	}
}

func TestWhatAVerdictSaysOfTheTarget(t *testing.T) {
	for _, c := range []struct {
		v    verdict.Verdict
		want Kind
	}{
		{verdict.Verdict{Passed: true}, Passed},
		{verdict.Verdict{Stage: verdict.Tunnel, Reason: verdict.Timeout, Blame: verdict.Local}, ""},
		{verdict.Verdict{Stage: verdict.Verify, Reason: verdict.HTTPStatus, Blame: verdict.Target}, Target},
		{verdict.Verdict{Stage: verdict.Tunnel, Reason: verdict.Timeout, Blame: verdict.Proxy}, Target},
		{verdict.Verdict{Stage: verdict.TargetTLS, Reason: verdict.Reset, Blame: verdict.Unknown}, Target},
		{verdict.Verdict{Stage: verdict.Connect, Reason: verdict.Timeout, Blame: verdict.Proxy}, Other},
		{verdict.Verdict{Stage: verdict.Connect, Reason: verdict.Refused, Blame: verdict.Proxy}, Other},
		{verdict.Verdict{Stage: verdict.ProxyAuth, Reason: verdict.AuthRejected, Blame: verdict.Credentials}, Other},
	} {
		if got := KindOf(c.v); got != c.want {
			t.Errorf("%s blame %s: %s", c.v.Class(), c.v.Blame, got)
		}
	}
}
