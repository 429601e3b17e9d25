package scheduler_test

import (
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store/record"
)

// Whatever key somebody puts something else into, the daemons put it right at once and work
// on; Redis is not away meanwhile.
func TestDaemonsMendAKeyOfAnotherType(t *testing.T) {
	t.Parallel()
	url, farm := testenv.Redis(t), testenv.NewFarm(t, 6)
	p, raw := openPool(t, url), testenv.Client(t, url)
	enroll(t, p, farm, 6)
	c := testCheck(t)
	c.Policy.Recheck = time.Second
	logs := watched(t, url, c)
	watched(t, url, c)
	well := func() bool { return states(t, p)[record.Eligible] == 6 }
	testenv.Eventually(t, 20*time.Second, "all eligible", well)
	for _, part := range []string{"due:recheck", "holds", "meta", "budget", "clock", "leases", "eligible"} {
		raw.Del(t.Context(), key(part))
		if err := raw.Set(t.Context(), key(part), "junk", 0).Err(); err != nil {
			t.Fatal(err)
		}
		testenv.Eventually(t, time.Minute, part+" is mended", func() bool {
			r, err := p.Fsck(t.Context())
			return err == nil && len(r.Violations) == 0 && r.Checked == 6 && well()
		})
		farm.Reset()
		testenv.Eventually(t, 20*time.Second, "all are probed, after "+part, func() bool {
			for i := range 6 {
				if farm.HitsOf(farm.Host(i)) == 0 {
					return false
				}
			}
			return true
		})
	}
	if n := logs.FilterMessageSnippet("redis is away").Len(); n > 0 {
		t.Errorf("told %d times that redis is away", n)
	}
	if logs.FilterMessageSnippet("something in the pool is broken").Len() == 0 {
		t.Error("not told")
	}
}
