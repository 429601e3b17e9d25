package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"proxyward/store"
	"proxyward/store/record"
)

// Workers take and end jobs all the time, and members come and go, while the counts are spoilt
// and mended: they come out right, and are right then for as long as nobody spoils them.
func TestJobsAreCountedRightAgainWhileWorkersWork(t *testing.T) {
	at := real(t)
	p := at.store(t).Pool(check)
	plant(t, p, record.Eligible, 1<<45, ids(0, 20)...)
	count(t, p)
	done := make(chan struct{})
	var traffic sync.WaitGroup
	for range 3 {
		mine := at.store(t).Pool(check)
		traffic.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					toil(t, context.Background(), mine)
				}
			}
		})
	}
	turns := 0
	traffic.Go(func() { turns = comeAndGo(t, at.store(t).Pool(check), ids(0, 5), done) })
	ctx, spoilt := t.Context(), 0
	for range 12 {
		for range 5 {
			who := id(rand.IntN(20))
			switch rand.IntN(4) {
			case 0:
				at.raw.ZIncrBy(ctx, at.key("inflight"), float64(rand.IntN(7)-3), who)
			case 1:
				at.raw.ZRem(ctx, at.key("inflight"), who)
			case 2:
				at.raw.HSet(ctx, at.key("engaged"), who, rand.IntN(5))
			case 3:
				at.raw.ZAdd(ctx, at.key("jobs"), redis.Z{Score: 1 << 45, Member: fmt.Sprintf("%d.3600000.5:%s", now(t, p), who)})
			}
			spoilt++
		}
		for range 10 {
			if r := repair(t, p); len(r.Violations) == 0 {
				break
			}
		}
		for range 3 {
			sound(t, p)
		}
	}
	close(done)
	traffic.Wait()
	sound(t, p)
	counts, err := p.Repaired(ctx)
	if err != nil || counts["I8"] < int64(spoilt)/3 || turns < 20 {
		t.Errorf("mended %v, %v, of %d; %d returns: too little to mean anything", counts, err, spoilt, turns)
	}
}

// What was read of an endpoint's jobs is corrected only while it is so.
func TestACorrectionOfJobsGivesWayToWhatChanged(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := count(t, at.pool(t))
		plant(t, p, record.Eligible, 1<<45, id(0))
		j := acquire(t, p, store.LongestJob, 0)
		for name, c := range map[string]struct {
			args []any
			want string
		}{
			"another number":     {[]any{id(0), 3, "", 9, 1, j.Token}, "[2]"},
			"another engagement": {[]any{id(0), 1, "4", 9, 1, j.Token}, "[2]"},
			"a job that ended":   {[]any{id(0), 1, "", 9, 2, j.Token, "1.2.3:" + id(0)}, "[2]"},
			"as it was":          {[]any{id(0), 1, "", 1, 1, j.Token}, "[0]"},
		} {
			got := fmt.Sprint(joined(t, at, []string{"args", "jobs", "jobs_count"}, at.keys("jobs", "eligible", "meta", "inflight", "engaged"), c.args...))
			if n := look(t, p, id(0)).Jobs; got != c.want || n != 1 {
				t.Errorf("%s: %s, then %d jobs", name, got, n)
			}
		}
		for _, bad := range [][]any{{id(0)}, {id(0), 1, "", 1, 2, j.Token}, {id(0), 1, "", "x", 0}, {id(0), 1, "", 0.5, 0}, {id(0), 1, "", -1, 0}} {
			if text := fmt.Sprint(joined(t, at, []string{"args", "jobs", "jobs_count"}, at.keys("jobs", "eligible", "meta", "inflight", "engaged"), bad...)); text[0] == '[' {
				t.Errorf("%v: %s", bad, text)
			}
		}
		if n := look(t, p, id(0)).Jobs; n != 1 {
			t.Errorf("then %d jobs", n)
		}
	})
}

// joined runs a script of a daemon; its error is what it gives.
func joined(t *testing.T, at place, files, keys []string, args ...any) any {
	t.Helper()
	text := ""
	for _, file := range files {
		b, err := os.ReadFile("lua/" + file + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		text += string(b) + "\n"
	}
	v, err := at.raw.Eval(t.Context(), text, keys, args...).Result()
	if err != nil {
		return err.Error()
	}
	return v
}
