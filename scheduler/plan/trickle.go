package plan

import (
	"math"
	"time"
)

// Back is how long it takes until so many cooled endpoints are eligible again, from when
// all of them are due and every trial passes.
type Back struct {
	Endpoints int
	Growing   time.Duration // the trickle doubles as its cohorts pass
	Steady    time.Duration // it stays at per_tick: more than a fifth of each cohort fails
}

func (s Settings) back(n int) Back {
	grow, stay := newTrickle(s, n), newTrickle(s, n)
	stay.most = stay.limit
	end := (s.Policy.Tick + s.Latency + flush).Seconds() + float64(s.Policy.Rise-1)*s.Policy.Confirm.Seconds()
	steady := stay.run()
	growing := min(grow.run(), steady) // within its last window a run is told by its latest moment
	return Back{n, seconds(end + growing), seconds(end + steady)}
}

// limit is how many admissions a window allows when the trickle has grown.
func (s Settings) limit() float64 {
	return max(float64(s.PerTick), min(float64(s.MaxPerTick), math.Floor(s.Rate*s.Window.Seconds())))
}

// trickle simulates a recovery window by window.
type trickle struct {
	left     float64 // admissions still to come; each endpoint needs rise of them
	rise     float64
	limit    float64 // of a window now
	most     float64
	window   float64 // seconds
	verdict  float64 // seconds from an admission to the cohort's result
	start    float64 // probes that can start in a window
	others   float64 // eligible all the while
	recheck  float64 // seconds
	admitted float64
	credit   float64 // probes that may start now
	phase    float64 // seconds into a window at which the limit last grew: the next ones admit then
	cohorts  []cohort
}

// cohort is all that was admitted in one window and is not judged yet.
type cohort struct{ limit, known float64 }

func newTrickle(s Settings, n int) *trickle {
	rate, _ := s.capacity(s.Latency)
	return &trickle{left: float64(n * s.Policy.Rise), rise: float64(s.Policy.Rise), limit: float64(s.PerTick), most: s.limit(),
		window: s.Window.Seconds(), verdict: (s.Latency + flush).Seconds(), start: rate * s.Window.Seconds(),
		others: float64(max(0, s.Endpoints-n)), recheck: s.Policy.Recheck.Seconds()}
}

// simulated is how many windows are gone through one by one; what is left then comes at
// the pace of their second half.
const simulated = 20_000

// run is how many seconds pass from the first admission to the last.
func (t *trickle) run() float64 {
	half := 0.0
	for k := range simulated {
		at := float64(k) * t.window
		t.judge(at)
		n := t.admit()
		if t.left <= 0 {
			return at + t.phase
		}
		if n > 0 && t.limit < t.most {
			t.cohorts = append(t.cohorts, cohort{t.limit, max(at+t.window, at+t.phase+t.verdict)})
		}
		if k == simulated/2-1 {
			half = t.admitted
		}
	}
	return simulated * t.window * (1 + t.left/(t.admitted-half)/2)
}

// judge takes note of the cohorts whose results are in before this window ends. One that
// passed doubles what was allowed when it was admitted. (The scripts ask that it used half
// of that at least; where it did not, something else than the trickle sets the pace.)
func (t *trickle) judge(at float64) {
	for len(t.cohorts) > 0 && t.cohorts[0].known < at+t.window {
		c := t.cohorts[0]
		t.cohorts = t.cohorts[1:]
		if grown := min(t.most, 2*c.limit); grown > t.limit {
			t.limit, t.phase = grown, max(0, c.known-at)
		}
	}
}

// admit is one window: as many as the trickle, the rate and the slots allow. The recovery
// lane goes before the recheck lane, which is sure of a tenth.
func (t *trickle) admit() float64 {
	rechecks := (t.others + t.admitted/t.rise) / t.recheck * t.window
	t.credit += t.start - min(rechecks, fair*t.start)
	n := min(t.limit, math.Floor(t.credit), t.left)
	t.credit = min(t.credit-n, max(t.start, 1))
	t.left, t.admitted = t.left-n, t.admitted+n
	return n
}
