package checks

import (
	"context"
	"errors"
	"os"
	"time"

	"proxyward/checks/verdict"
)

var stageIndex = func() map[verdict.Stage]int {
	m := map[verdict.Stage]int{}
	for i, s := range verdict.Stages {
		m[s] = i
	}
	return m
}()

// enter begins a stage that may take at most limit (0: only the whole bounds it). Every
// limit counts from the stage's begin: a byte now and then does not prolong it.
func (p *probe) enter(s verdict.Stage, limit time.Duration) {
	now := time.Now()
	p.leave(now)
	p.stage, p.stageAt, p.stageGot = s, now, p.got
	p.entered[stageIndex[s]] = true
	p.until(now, limit)
	p.trace("begin", "")
}

// until sets the running stage's deadline.
func (p *probe) until(from time.Time, limit time.Duration) {
	end := p.whole
	if limit > 0 && from.Add(limit).Before(end) {
		end = from.Add(limit)
	}
	if end.Before(p.graceEnd) {
		end = p.graceEnd
	}
	if end.Equal(p.limited) {
		return
	}
	p.limited = end
	if p.raw == nil {
		return
	}
	p.raw.SetDeadline(end)
	if p.ctx.Err() != nil { // it may have been cancelled just before the deadline was moved
		p.raw.SetDeadline(time.Unix(1, 0))
	}
}

func (p *probe) leave(now time.Time) {
	if p.stage == "" {
		return
	}
	p.spent[stageIndex[p.stage]] += now.Sub(p.stageAt)
	p.trace("end", "")
	p.stage = ""
}

// silent reports whether not a byte has come since the stage began.
func (p *probe) silent() bool { return p.got == p.stageGot }

func (p *probe) cancelled() bool { return p.ctx.Err() != nil }

// timedOut reports whether an error means that a deadline passed: ours or the kernel's.
func timedOut(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || isTimeoutErrno(err)
}

// verdict closes the last stage and writes the verdict down.
func (p *probe) verdict(fail *failure) verdict.Verdict {
	now := time.Now()
	p.leave(now)
	v := verdict.Verdict{Passed: true}
	if fail != nil {
		v = verdict.Make(fail.stage, fail.event, p.mask(fail.more))
		v.RetryAfter = fail.retryAfter
		p.entered[stageIndex[fail.stage]] = true
	}
	v.Status, v.Bytes, v.Total = p.answer.status, p.answer.bytes, now.Sub(p.start)
	v.Timings = make(map[verdict.Stage]time.Duration, 6)
	for i, s := range verdict.Stages {
		if p.entered[i] {
			v.Timings[s] = p.spent[i]
		}
	}
	return v
}

// failure is the first thing that went wrong: an event of the table, at a stage.
type failure struct {
	stage      verdict.Stage
	event      string
	more       string // what the peer said, for the detail
	retryAfter time.Duration
	retry      bool // worth one more try inside this probe: the fault was our own first offer
}

func (p *probe) fail(event, more string) *failure {
	return &failure{stage: p.stage, event: event, more: more}
}

func (p *probe) failAt(stage verdict.Stage, event, more string) *failure {
	return &failure{stage: stage, event: event, more: more}
}

// local finds the faults that are our own, whatever the stage; nil: the peer's.
func (p *probe) local(err error) *failure {
	switch {
	case p.cancelled():
		return p.fail("cancelled", "")
	case isResourceErrno(err):
		return p.fail("no_resources", "")
	case timedOut(err) && time.Since(p.limited) > overslept:
		return p.fail("stalled", "")
	case timedOut(err) && p.opts.Stalled != nil && p.opts.Stalled(p.stageAt, time.Now()):
		return p.fail("stalled", "")
	}
	return nil
}

// broken is the failure for an I/O error at the running stage. names gives the event for
// each way of ending; an empty one means the way's own name.
func (p *probe) broken(err error, names ending) *failure {
	if f := p.local(err); f != nil {
		return f
	}
	if f := p.tlsBroke(err); f != nil {
		return f
	}
	switch {
	case timedOut(err):
		return p.fail(or(names.timeout, "timeout"), "")
	case isResetErrno(err):
		return p.fail(or(names.reset, "reset"), "")
	case isUnreachableErrno(err):
		return p.fail("unreachable", "")
	case (p.stage == verdict.Tunnel || p.stage == verdict.ProxyTLS) && p.unread():
		return p.fail(or(names.reset, "reset"), "")
	}
	return p.fail(or(names.eof, "eof"), "")
}

// unread reports whether a peer that closed without a word has not even read what it was
// sent: then its kernel answers our bytes with a reset, one round trip later. That is
// how an address is turned away that is not on the proxy's list.
func (p *probe) unread() bool {
	c, ok := p.tcp.(interface{ refused() bool })
	if !ok || p.got > 0 {
		return false
	}
	if c.refused() {
		return true
	}
	time.Sleep(min(2*p.spent[stageIndex[verdict.Connect]]+time.Millisecond, 50*time.Millisecond))
	return c.refused()
}

type ending struct{ timeout, reset, eof string }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
