package suspect

import (
	"fmt"
	"time"
)

// Rules say what reports come to. Durations are milliseconds.
type Rules struct {
	After     int     // bad reports that have an endpoint probed; as many good ones put its recheck off
	Workers   int     // how many workers must agree
	WithinMs  int64   // the time in which bad ones must come
	QuietMs   int64   // reports ask for an endpoint once in this time
	RecheckMs int64   // the interval of rechecks; the time in which good ones must come
	Stretch   float64 // a recheck is put off to this many intervals after the last probe; 1: never
}

// Facts are what the pool says of the endpoint that reports are about.
type Facts struct {
	LastProbeMs int64 // pool time; 0: never
	Proven      bool  // the last probe passed, and nothing is undecided
	DueMs       int64 // of its recheck; 0: it does not wait for one
}

// Judgment is what reports about one endpoint come to.
type Judgment struct {
	Tally  map[Cause]int
	Next   State // what is remembered then
	Ask    bool  // it is to be probed soon
	Asked  State // what is remembered instead, once it was asked for
	Stage  string
	Reason string // of the last bad report
	Detail string // why it is asked for, in words
	DueMs  int64  // where its recheck is put off to; 0: it stays
}

// spareWrites: while good reports are plenty, one in this part of an interval is enough.
const spareWrites = 50

// Judge adds reports, oldest first, to what is remembered. nowMs is the pool's time; dice
// in [0,1) scatters what is put off.
func (s State) Judge(reports []Report, f Facts, r Rules, nowMs int64, dice float64) Judgment {
	j := Judgment{Tally: map[Cause]int{}, Next: s.Clone()}
	for _, rep := range reports {
		if !rep.Failed {
			j.Tally[j.Next.good(rep, r)]++
			continue
		}
		cause := j.Next.bad(rep, f, r)
		j.Tally[cause]++
		if cause == Applied {
			j.Stage, j.Reason = rep.Stage, rep.Reason
			if j.Next.enough(r) && !j.Ask {
				j.Ask = true
				j.Detail = fmt.Sprintf("%s by %s within %v", counted(len(j.Next.Bad), "bad report"), counted(Workers(j.Next.Bad), "worker"),
					time.Duration(r.WithinMs)*time.Millisecond)
			}
		}
	}
	if j.Ask {
		j.Asked = j.Next.Clone()
		j.Asked.AskedMs = nowMs
		j.Asked.spend(nowMs)
		return j
	}
	j.DueMs = j.Next.putOff(f, r, dice)
	return j
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// bad adds a bad report. What was written before the last probe, or before the endpoint was
// last asked for, is answered by that probe.
func (s *State) bad(rep Report, f Facts, r Rules) Cause {
	since := max(f.LastProbeMs, s.AskedMs)
	last := max(rep.AtMs, newest(s.Bad))
	s.spend(since)
	_, s.Bad = after(s.Bad, last-r.WithinMs)
	_, s.Done = after(s.Done, last-r.WithinMs)
	switch {
	case knows(s.Bad, rep.Mark) || knows(s.Done, rep.Mark):
		return Repeated
	case rep.AtMs <= since, rep.AtMs <= last-r.WithinMs:
		return Answered
	}
	s.Bad = add(s.Bad, Sight{rep.AtMs, rep.Worker, rep.Mark})
	kept, rest := keep(s.Bad, r.After, r.Workers)
	s.Bad = kept
	s.finish(rest)
	if r.Stretch > 1 {
		s.FailedMs = max(s.FailedMs, rep.AtMs)
	}
	return Applied
}

// spend takes those up to a time off what counts.
func (s *State) spend(ms int64) {
	spent, rest := after(s.Bad, ms)
	s.Bad = rest
	s.finish(spent)
}

func (s *State) finish(list []Sight) {
	for _, one := range list {
		s.Done = add(s.Done, one)
	}
	s.Done = s.Done[max(0, len(s.Done)-doneKept):]
}

// enough: the bad reports are as many, and of as many workers, as the rules ask for, and
// the endpoint was not asked for lately.
func (s State) enough(r Rules) bool {
	return len(s.Bad) >= r.After && Workers(s.Bad) >= r.Workers && (s.AskedMs == 0 || newest(s.Bad) >= s.AskedMs+r.QuietMs)
}

// good adds a good report.
func (s *State) good(rep Report, r Rules) Cause {
	if r.Stretch <= 1 {
		return Applied
	}
	last := max(rep.AtMs, newest(s.Good))
	_, s.Good = after(s.Good, last-r.RecheckMs)
	switch {
	case knows(s.Good, rep.Mark):
		return Repeated
	case rep.AtMs <= last-r.RecheckMs:
		return Answered
	case s.plenty(r) && rep.AtMs < newest(s.Good)+r.RecheckMs/spareWrites:
		return Applied
	}
	s.Good = add(s.Good, Sight{rep.AtMs, rep.Worker, rep.Mark})
	s.Good, _ = keep(s.Good, r.After, r.Workers)
	return Applied
}

// plenty: the good reports are as many, and of as many workers, as the rules ask for.
func (s State) plenty(r Rules) bool { return len(s.Good) >= r.After && Workers(s.Good) >= r.Workers }

// putOff is when a recheck is due instead, 0 where it stays: as after a probe that passed
// when the last good report was written, and never later than the bound.
func (s State) putOff(f Facts, r Rules, dice float64) int64 {
	last := newest(s.Good)
	if r.Stretch <= 1 || !s.plenty(r) || !f.Proven || f.DueMs == 0 || s.FailedMs > 0 && s.FailedMs > last-r.RecheckMs {
		return 0
	}
	due := last + r.RecheckMs - int64(dice*float64(r.RecheckMs)/10)
	due = min(due, f.LastProbeMs+int64(float64(r.RecheckMs)*r.Stretch))
	if due <= f.DueMs {
		return 0
	}
	return due
}
