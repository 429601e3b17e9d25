package scheduler_test

import (
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store/record"
)

// A slot is free when its probe ends, not when its result is written.
func TestOneSlotIsUsedAgainAtOnce(t *testing.T) {
	t.Parallel()
	const n = 200
	url := testenv.Redis(t)
	p, farm := openPool(t, url), testenv.NewFarm(t, n)
	enroll(t, p, farm, n)
	c := testCheck(t)
	c.Limits.Concurrency = 1
	startDaemon(t, url, c)
	testenv.Eventually(t, 20*time.Second, "all eligible", func() bool { return states(t, p)[record.Eligible] == n })
	sound(t, p)
}
