package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

const realYAML = `
redis: {url: "REDIS"}
log: {level: debug}
admin: {listen: ""}
checks:
  - name: catalogue
    request:
      url: TARGET
      timeout: 8s
      tls: {ca_file: "CA"}
    expect:
      status: [200]
      body_contains: ["the catalogue"]
    endpoints:
      - {file: "LIST"}
`

func TestRealProxiesDeadOnesAndAWrongPassword(t *testing.T) {
	t.Parallel()
	redis, site := testenv.Redis(t), newTarget(t)
	login := testenv.ProxyOptions{Login: true}
	squid := testenv.Squid(t, login)
	good := []testenv.Proxy{
		testenv.Squid(t, testenv.ProxyOptions{}), squid,
		testenv.Tinyproxy(t, testenv.ProxyOptions{}), testenv.Tinyproxy(t, login),
		testenv.Dante(t, testenv.ProxyOptions{}), testenv.Dante(t, login),
		testenv.Microsocks(t, testenv.ProxyOptions{}), testenv.Microsocks(t, login),
	}
	dead := []string{"http://" + testenv.Nobody(t), "socks5://" + testenv.Nobody(t), "socks5h://joe:secret@" + testenv.Nobody(t)}
	wrong := squid.As("mallory", "guess")
	list, want := "# real proxies\n", []string{}
	for _, p := range good {
		list += p.URL() + "\n"
		want = append(want, p.ID())
	}
	list += strings.Join(dead, "\n") + "\n" + wrong + "\n"
	slices.Sort(want)

	config := yaml(t, realYAML, "REDIS", redis, "TARGET", site.HTTPS+"/good", "CA", site.CAFile, "LIST", file(t, "proxies.txt", list))
	key := "proxyward:{catalogue}:eligible"
	began := time.Now()
	start(t, "--config", config)
	members := func() []string {
		m := lines(redisCLI(t, "-u", redis, "ZRANGE", key, "0", "-1"))
		slices.Sort(m)
		return m
	}
	testenv.Eventually(t, 10*time.Second, "exactly the good ones are eligible", func() bool { return slices.Equal(members(), want) })
	t.Logf("after %v", time.Since(began))

	for _, url := range dead {
		id := testenv.WithoutPassword(url)
		testenv.Eventually(t, 5*time.Second, id+" cools", func() bool { return explain(t, config, id).Record.State == "cooling" })
		if e := explain(t, config, id).Record; e.Stage != "connect" || e.Reason != "refused" || e.Blame != "proxy" {
			t.Errorf("%s: %+v", id, e)
		}
	}
	id := testenv.WithoutPassword(wrong)
	testenv.Eventually(t, 5*time.Second, id+" cools", func() bool { return explain(t, config, id).Record.State == "cooling" })
	if e := explain(t, config, id).Record; e.Stage != "proxy_auth" || e.Reason != "auth_rejected" || e.Blame != "credentials" || e.PauseMs < 5*60_000 {
		t.Errorf("%s: %+v", id, e)
	}
	for id, words := range map[string]string{testenv.WithoutPassword(dead[0]): "refused", id: "credentials"} {
		if said := ok(t, "explain", "--config", config, id); !strings.Contains(said, words) {
			t.Errorf("explain %s does not speak of %s:\n%s", id, words, said)
		}
	}

	var taken []string
	for range 2 * len(want) {
		taken = append(taken, redisCLI(t, "-u", redis, "--eval", "../../store/lua/allocate.lua", key))
	}
	slices.Sort(taken)
	if twice := slices.Sorted(slices.Values(append(slices.Clone(want), want...))); !slices.Equal(taken, twice) {
		t.Errorf("allocated %q, want each of %q twice", taken, want)
	}
	if got := members(); !slices.Equal(got, want) {
		t.Errorf("in the end eligible: %q", got)
	}
	ok(t, "fsck", "--config", config)
	for _, source := range site.site.Plain.Sources() {
		t.Errorf("somebody came to the http side of an https target: %v", source)
	}
}
