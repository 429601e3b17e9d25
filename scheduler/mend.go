package scheduler

import (
	"context"
	"time"

	"go.uber.org/zap"

	"proxyward/store"
)

const (
	mendEvery   = time.Second      // between steps
	mendAtOnce  = 2000             // endpoints a step looks at: 100,000 take under a minute
	straysEvery = 20 * time.Second // between looks through the eligible set
	sweepsEvery = 30 * time.Second // between sweeps through the whole pool, at least
	mendHold    = 15 * time.Second // how long one daemon has the right to mend; it is prolonged while it lives
	mendTurn    = 5 * time.Second  // how often that is done, or asked for
)

// mendRight is the right's name among those to refresh a source.
const mendRight = "repair"

// mender goes through the pool for ever, a step a second, and mends what it finds broken.
// One daemon at a time does so; when it dies another takes over.
type mender struct {
	*runner
	mine     bool
	turn     time.Time    // when the right is to be prolonged or asked for
	strays   *store.Sweep // under way; nil: none
	sweep    *store.Sweep
	straysAt time.Time // when the next one may begin
	sweepAt  time.Time
	left     []store.Violation       // that the sweep under way could not mend
	stands   map[store.Violation]int // in how many sweeps in a row each was left
}

// mendLoop steps until ctx ends.
func (r *runner) mendLoop(ctx context.Context) {
	m := &mender{runner: r}
	pause(ctx, scatter(r.Name, mendTurn)) // daemons that start together do not all ask at once
	tick := time.NewTicker(mendEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.contain("mend", r.check.Name, func() {
				r.quietly(ctx, func(ctx context.Context) error { return m.step(ctx, time.Now()) })
			})
		}
	}
}

// step looks at some endpoints if this daemon has the right to.
func (m *mender) step(ctx context.Context, now time.Time) (err error) {
	if m.health.mend.Load() { // whoever's turn it is: no script may work
		found, err := m.pool.Reshape(ctx, true)
		if m.tell(found); err != nil {
			return err
		}
		m.sweepAt = now
	}
	if !now.Before(m.turn) {
		if m.mine, _, err = m.pool.HoldSource(ctx, mendRight, m.Name, mendHold, false); err != nil {
			return err
		}
		m.turn = now.Add(mendTurn)
	}
	if !m.mine {
		m.strays, m.sweep = nil, nil
		return nil
	}
	if m.strays == nil && !now.Before(m.straysAt) {
		m.strays, m.straysAt = m.pool.NewStraySweep(), now.Add(straysEvery)
	}
	if m.sweep == nil && !now.Before(m.sweepAt) {
		m.sweep, m.sweepAt, m.left = m.pool.NewSweep(), now.Add(sweepsEvery), nil
	}
	if m.strays, err = m.goOn(ctx, m.strays); err != nil {
		return err
	}
	swept := m.sweep != nil
	if m.sweep, err = m.goOn(ctx, m.sweep); err == nil && swept && m.sweep == nil {
		m.complain()
	}
	return err
}

// goOn does one step of a sweep; nil when it is done or cannot go on.
func (m *mender) goOn(ctx context.Context, s *store.Sweep) (*store.Sweep, error) {
	if s == nil {
		return nil, nil
	}
	sum, err := s.Step(ctx, mendAtOnce)
	m.tell(sum.Violations)
	if err != nil || s.Done() {
		return nil, err
	}
	return s, nil
}

// shownRepairs is of how many repairs a line of the log says what was wrong.
const shownRepairs = 3

// tell writes one line for what a step mended.
func (m *mender) tell(found []store.Violation) {
	rules := map[string]int{}
	var what []string
	for _, v := range found {
		if v.Mended {
			rules[v.Invariant]++
			what = append(what, v.Invariant+" "+v.Endpoint+": "+v.What)
		} else {
			m.left = append(m.left, v)
		}
	}
	if len(what) > 0 {
		m.log.Warn("mended the pool: something else than proxyward and allocate.lua wrote to it, or redis lost writes",
			zap.Any("mended", rules), zap.Strings("for_example", what[:min(len(what), shownRepairs)]))
	}
}

// complain tells what two sweeps in a row could not mend, once while it stands: an endpoint
// that kept moving under the repair is met only once.
func (m *mender) complain() {
	stands := map[store.Violation]int{}
	var told []store.Violation
	for _, v := range m.left {
		if stands[v] == 0 {
			if stands[v] = m.stands[v] + 1; stands[v] == 2 {
				told = append(told, v)
			}
		}
	}
	if len(told) > 0 {
		v := told[0]
		m.log.Error("the pool is broken and cannot be mended: `proxyward fsck` says more", zap.Int("violations", len(told)),
			zap.String("rule", v.Invariant), zap.String("endpoint", v.Endpoint), zap.String("what", v.What))
	}
	m.stands = stands
}
