package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"proxyward/internal/testenv"
	"proxyward/prober"
	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

func TestRedisAwayAtTheStartAndLaterIsSaidOnceAndOutlived(t *testing.T) {
	t.Parallel()
	m := miniredis.NewMiniRedis()
	addr := fmt.Sprintf("127.0.0.1:%d", testenv.Port(t))
	t.Cleanup(m.Close)
	url, farm := "redis://"+addr+"/0", testenv.NewFarm(t, 4)
	s, err := store.Open(store.Address{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	core, logs := observer.New(zapcore.WarnLevel)
	c := testCheck(t)
	c.Policy.Recheck = 2 * time.Second
	d := scheduler.NewDaemon(scheduler.Options{Store: s, Prober: prober.New(16), Checks: []scheduler.Check{c}, Log: zap.New(core)})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- d.Run(ctx) }()

	testenv.Eventually(t, 10*time.Second, "told that redis is away", func() bool { return logs.Len() > 0 })
	if err := m.StartAddr(addr); err != nil {
		t.Fatal(err)
	}
	p := openPool(t, url)
	enroll(t, p, farm, 4)
	testenv.Eventually(t, 20*time.Second, "4 eligible", func() bool { return states(t, p)[record.Eligible] == 4 })
	told := logs.Len()
	if told != 1 {
		t.Errorf("told %d times: %v", told, logs.All())
	}

	m.Close()
	testenv.Eventually(t, 10*time.Second, "told again", func() bool { return logs.Len() > told })
	if err := m.StartAddr(addr); err != nil {
		t.Fatal(err)
	}
	farm.Reset()
	testenv.Eventually(t, 40*time.Second, "each probed again", func() bool { return len(farm.Hits()) >= 4 })
	if n := logs.FilterMessageSnippet("redis is away").Len(); n != 2 {
		t.Errorf("two absences, told %d times", n)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	sound(t, p)
}

func TestRedissClockMovedAnHourNeitherFreezesNorFloodsRecoveries(t *testing.T) {
	t.Parallel()
	for name, shift := range map[string]time.Duration{"forth": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 60
			m := miniredis.RunT(t)
			url := "redis://" + m.Addr() + "/0"
			p, farm := openPool(t, url), testenv.NewFarm(t, n)
			farm.Answer(testenv.Say(403))
			enroll(t, p, farm, n)
			c := testCheck(t)
			c.Policy.Cooldown.Base, c.Policy.Cooldown.Factor = 5*time.Second, 1
			startDaemon(t, url, c)
			testenv.Eventually(t, 20*time.Second, "all cooling", func() bool { return states(t, p)[record.Cooling] == n })

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { // miniredis has one clock for all; from here it runs shifted
				for ctx.Err() == nil {
					m.SetTime(time.Now().Add(shift))
					time.Sleep(5 * time.Millisecond)
				}
			}()
			farm.Answer(testenv.Good)
			farm.Reset()
			late := lateness(t)
			testenv.Eventually(t, 40*time.Second, "all back", func() bool { return states(t, p)[record.Eligible] == n })
			noMoreThan(t, p, farm, 5, late())
			sound(t, p)
		})
	}
}
