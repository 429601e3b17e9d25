package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store"
	"proxyward/store/record"
)

// Whatever key holds something of another type, it is told, and after the repair the pool is
// whole again as far as the other keys say.
func TestAKeyOfAnotherTypeIsMended(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		for _, part := range []string{"eligible", "endpoints", "urls", "due:urgent", "due:recovery", "due:recheck", "due:candidate", "leases", "tokens",
			"admitted", "guard", "reports", "reported", "suspects", "events", "counts", "daemons", "clock", "budget", "meta", "holds"} {
			t.Run(part, func(t *testing.T) {
				p := planted(t, at)
				ctx := t.Context()
				at.raw.Del(ctx, at.key(part))
				at.raw.Set(ctx, at.key(part), "junk", 0)
				before, err := p.Fsck(ctx)
				if err != nil || len(before.Violations) != 1 || before.Violations[0].Invariant != "K" || !strings.Contains(before.Violations[0].What, at.key(part)+" holds a string") {
					t.Fatalf("%+v %v", before, err)
				}
				mended(t, repair(t, p))
				sound(t, p)
				claim(t, p, request(3))
				if part != "endpoints" {
					for i := range 5 {
						if e := look(t, p, id(i)); !e.Known() {
							t.Errorf("endpoint %d is lost", i)
						}
					}
				}
			})
		}
	})
}

// What the pool remembers about itself may be anything: scripts go on, and the repair drops it.
func TestBooksThatCannotBe(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		for _, c := range []struct{ part, field, value string }{
			{"budget", "tokens", "-1e300"}, {"budget", "tokens", "junk"}, {"budget", "at_ms", "word"}, {"budget", "at_ms", "9e15"}, {"budget", "trickle", "inf"},
			{"budget", "asks", "nan"}, {"clock", "offset", "junk"}, {"clock", "offset", "-9e12"}, {"clock", "high", "9007199254740993"}, {"clock", "high", "x"},
			{"clock", "held", "99999999999999"}, {"clock", "held", "junk"}, {"meta", "schema", "junk"}, {"meta", "guard_ms", "junk"},
			{"meta", "guard_ms", "99999999999999"}, {"meta", "seq", "junk"}, {"meta", "lowest", "-3"}, {"meta", "repaired:I1", "x"}, {"meta", "reports:unknown", "x"},
		} {
			t.Run(c.part+" "+c.field+" "+c.value, func(t *testing.T) {
				p := planted(t, at)
				ctx := t.Context()
				claim(t, p, request(0))
				plant(t, p, record.Candidate, 1, id(5))
				at.raw.HSet(ctx, at.key(c.part), c.field, c.value)
				claim(t, p, request(0))
				testenv.Eventually(t, 5*time.Second, "it is claimed", func() bool { return len(claim(t, p, request(5)).Leases) == 1 })
				if _, err := p.Recheck(ctx, 0, ids(0, 5)); err != nil {
					t.Error(err)
				}
				if _, err := p.Status(ctx); err != nil {
					t.Error(err)
				}
				mended(t, repair(t, p))
				if got := at.raw.HGet(ctx, at.key(c.part), c.field).Val(); got == c.value {
					t.Errorf("%s is still %s", c.field, got)
				}
				sound(t, p)
			})
		}
	})
}

// Somebody who deletes the clock does not turn it back under a daemon.
func TestTheClockIsDeleted(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		plant(t, p, record.Candidate, 1, id(0))
		claim(t, p, request(0))
		at.later(t, time.Hour)
		before := claim(t, p, request(0)).Now
		at.raw.Del(t.Context(), at.key("clock"))
		if after := claim(t, p, request(0)).Now; after < before || after > before+60_000 {
			t.Errorf("from %d to %d", before, after)
		}
	})
}

func TestAHeartbeatOfTheFutureIsNobodys(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t)
		at.raw.ZAdd(t.Context(), at.key("daemons"), zat(9e15, 7))
		if g := claim(t, p, request(0)); g.Daemons != 1 {
			t.Errorf("%d daemons", g.Daemons)
		}
	})
}

// With the check's settings known, nobody waits longer than they can have anybody wait.
func TestADueTimeTooFarAwayIsMended(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := at.pool(t).Farthest(time.Hour)
		at0 := now(t, p)
		plant(t, p, record.Eligible, at0+10_000, id(0))
		at.raw.ZAdd(t.Context(), at.key("due:recheck"), zat(float64(at0+10*365*24*3600*1000), 0))
		r, err := p.Fsck(t.Context())
		if err != nil || len(r.Violations) != 1 || !strings.Contains(r.Violations[0].What, "never comes") {
			t.Fatal(r, err)
		}
		mended(t, repair(t, p))
		if due := look(t, p, id(0)).Lanes[record.Recheck]; due > now(t, p) {
			t.Errorf("due in %d ms", due-now(t, p))
		}
	})
}

// A record under a name that is no endpoint's cannot be probed: it goes; one written
// otherwise gets its proper name.
func TestWhoHasNoNameGoes(t *testing.T) {
	contract(t, func(t *testing.T, at place) {
		p := planted(t, at)
		for _, bad := range []string{"notanid", "HTTP://10.0.0.9:1", "http://10.0.0.9:99999", ""} {
			at.raw.HSet(t.Context(), at.key("endpoints"), bad, `{"state":"candidate","sources":["file:l"]}`)
		}
		mended(t, repair(t, p))
		var names []string
		err := p.Scan(t.Context(), func(entries []store.Entry, _ []error) error {
			for _, e := range entries {
				names = append(names, e.ID)
			}
			return nil
		})
		slices.Sort(names)
		if want := append(ids(0, 5), "http://10.0.0.9:1"); err != nil || fmt.Sprint(names) != fmt.Sprint(want) {
			t.Errorf("%v %v\nwant %v", names, err, want)
		}
	})
}
