package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
	"proxyward/store/record"
)

// Whatever argument is spoilt, a script writes nothing but the clock, heartbeats and
// other whole moves: no endpoint is lost, no count drifts.
func TestASpoiltArgumentLeavesNoHalfMove(t *testing.T) {
	testenv.EachRedis(t, func(t *testing.T, url string) {
		s, err := Open(Address{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		raw, p := testenv.Client(t, url), s.Pool("c")
		spoilt, refused := 0, 0
		bads := []any{"x", "-1", "", "nan", "inf", "1e300"}
		if strings.Contains(t.Name(), "miniredis") {
			bads = bads[:2]
		}
		for name, prepare := range spoilable {
			raw.FlushAll(t.Context())
			script, names, args := prepare(t, p)
			for i := range args {
				for _, bad := range bads {
					spoilt++
					raw.FlushAll(t.Context())
					script, names, args = prepare(t, p)
					mine := slices.Clone(args)
					mine[i] = bad
					if p.run(t.Context(), script, names, mine).Err() != nil {
						refused++
					}
					r, err := p.Fsck(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					for _, v := range r.Violations {
						if text := fmt.Sprint(args[i]); v.Endpoint != fmt.Sprint(bad) && text != "candidate" && text != "eligible" { // a well-formed lie
							t.Errorf("%s, argument %d %q instead of %q: %+v", name, i+1, bad, text, v)
						}
					}
				}
			}
			mine := args[:len(args)-1]
			if err := p.run(t.Context(), script, names, mine).Err(); err == nil && name != "recheck" { // it may ask for nobody
				t.Errorf("%s took one argument too few", name)
			}
		}
		if refused < 25*len(bads)/2 {
			t.Errorf("%d of %d refused: too few to mean anything", refused, spoilt)
		}
	})
}

// spoilable prepares a pool in which the call would do something, and gives the call.
var spoilable = map[string]func(*testing.T, *Pool) (*redis.Script, []string, []any){
	"claim": func(t *testing.T, p *Pool) (*redis.Script, []string, []any) {
		candidates(t, p)
		names, args := p.claimCall(Claim{Daemon: "d", Slots: 5, Lease: time.Second, PerTick: 5, Window: time.Second, Rate: 9, Alive: time.Second})
		return claimScript, names, args
	},
	"commit": func(t *testing.T, p *Pool) (*redis.Script, []string, []any) {
		candidates(t, p)
		l := leased(t, p)
		next := record.Record{State: record.Eligible}
		c := Change{ID: l.ID, Token: l.Token, Old: l.Raw, Transition: record.Transition{From: record.Candidate, To: record.Eligible, Next: next, DueMs: 5, DelayMs: 5,
			Event: &record.Step{From: record.Candidate, To: record.Eligible}}}
		names := p.commitKeys()
		return commitScript, names, c.appendTo(append(p.call(time.Second), eventsKept, Floor{}.String(), "p 1 http://a:1"), Scores{Initial: 7, Keep: true})
	},
	"give back": func(t *testing.T, p *Pool) (*redis.Script, []string, []any) {
		candidates(t, p)
		l := leased(t, p)
		names := append(p.keys.lanes(), p.keys.leases(), p.keys.tokens(), p.keys.clock())
		return giveBackScript, names, append(p.call(time.Second), l.ID, l.Token, "candidate", "5")
	},
	"recheck": func(t *testing.T, p *Pool) (*redis.Script, []string, []any) {
		candidates(t, p)
		return recheckScript, append(p.keys.lanes(), p.keys.leases(), p.keys.clock(), p.keys.meta()), append(p.call(0), 5, "http://a:1")
	},
}

func candidates(t *testing.T, p *Pool) {
	t.Helper()
	c := Change{ID: "http://a:1", Transition: record.Transition{To: record.Candidate, Next: record.Record{State: record.Candidate}, DueMs: 1, DelayMs: 1}}
	if codes, err := p.Amend(t.Context(), []Change{c}); err != nil || codes[0] != Applied {
		t.Fatal(codes, err)
	}
}

func leased(t *testing.T, p *Pool) Lease {
	t.Helper()
	g, err := p.Claim(t.Context(), Claim{Daemon: "d", Slots: 5, Lease: time.Second, PerTick: 5, Window: time.Second, Rate: 9, Alive: time.Second})
	if err != nil || len(g.Leases) != 1 {
		t.Fatal(g, err)
	}
	return g.Leases[0]
}
