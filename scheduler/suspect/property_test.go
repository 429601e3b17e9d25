package suspect

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// exact remembers every report for ever and says by the definition whether the endpoint is
// to be asked for: within one window, after the last probe and the last request, as many
// as the rules ask for, of as many workers, and none in the quiet time.
type exact struct {
	all   []Report
	asked int64
}

func (e *exact) ask(rep Report, f Facts, r Rules) (ask bool, cause Cause) {
	since := max(f.LastProbeMs, e.asked)
	for _, old := range e.all {
		if old.Mark == rep.Mark && old.AtMs > rep.AtMs-r.WithinMs {
			return false, Repeated
		}
	}
	if rep.AtMs <= since {
		return false, Answered
	}
	e.all = append(e.all, rep)
	n, seen := 0, map[string]bool{}
	for _, old := range e.all {
		if old.AtMs > since && old.AtMs > rep.AtMs-r.WithinMs {
			n++
			seen[old.Worker] = true
		}
	}
	return n >= r.After && len(seen) >= r.Workers && (e.asked == 0 || rep.AtMs >= e.asked+r.QuietMs), Applied
}

// What is remembered is bounded, and yet misses nothing: it says what one who remembers
// everything says.
func TestTheBoundedCountIsTheExactOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rules{After: rapid.IntRange(1, 6).Draw(t, "after"), WithinMs: int64(rapid.IntRange(1, 30).Draw(t, "within")), RecheckMs: 50, Stretch: 1}
		r.Workers = rapid.IntRange(1, r.After).Draw(t, "workers")
		r.QuietMs = r.WithinMs + int64(rapid.IntRange(0, 20).Draw(t, "quiet"))
		now, e, s, f := int64(1000), exact{}, State{}, Facts{}
		for i := range rapid.IntRange(1, 60).Draw(t, "reports") {
			now += int64(rapid.IntRange(0, 8).Draw(t, "later"))
			if rapid.IntRange(0, 19).Draw(t, "probed") == 0 {
				f.LastProbeMs = now
			}
			rep := Report{AtMs: now, Failed: true, Worker: fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "worker"))}
			rep.Mark = fmt.Sprint(rep.Worker, " ", i)
			if rapid.IntRange(0, 9).Draw(t, "repeats") == 0 && i > 0 {
				rep.Mark = fmt.Sprint(rep.Worker, " ", rapid.IntRange(0, i-1).Draw(t, "which"))
			}
			ask, cause := e.ask(rep, f, r)
			j := s.Judge([]Report{rep}, f, r, now, 0)
			if j.Ask != ask || j.Tally[cause] != 1 {
				t.Fatalf("report %d at %d: asked %v, %v; want %v, %s\n%+v", i, now, j.Ask, j.Tally, ask, cause, s)
			}
			s = Decode(j.Next.Encode())
			if ask && rapid.Bool().Draw(t, "granted") {
				s, e.asked = Decode(j.Asked.Encode()), now
			}
		}
	})
}

// A batch is judged as its reports one by one are.
func TestABatchIsJudgedAsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rules{After: rapid.IntRange(1, 4).Draw(t, "after"), Workers: 1, WithinMs: 20, QuietMs: 20, RecheckMs: 50, Stretch: 3}
		var batch []Report
		at := int64(1000)
		for i := range rapid.IntRange(1, 20).Draw(t, "reports") {
			at += int64(rapid.IntRange(0, 5).Draw(t, "later"))
			batch = append(batch, Report{AtMs: at, Failed: rapid.Bool().Draw(t, "failed"), Worker: "w", Mark: fmt.Sprint(i)})
		}
		whole := State{}.Judge(batch, Facts{}, r, at, 0)
		one, ask := State{}, false
		for _, rep := range batch {
			j := one.Judge([]Report{rep}, Facts{}, r, at, 0)
			one, ask = j.Next, ask || j.Ask
		}
		if whole.Ask != ask || whole.Next.Encode() != one.Encode() {
			t.Fatalf("whole: %v %s\none by one: %v %s", whole.Ask, whole.Next.Encode(), ask, one.Encode())
		}
	})
}
