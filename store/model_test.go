package store_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"proxyward/store/record"
)

// model is the pool in plain Go: what the scripts must come to. Times are pool time; a step
// of a trace is minutes long, so that the milliseconds a call takes never matter.
type model struct {
	ends     map[string]*end
	seq      int64
	lowest   int64
	admitted []int64
	trickle  int64
	cohorts  map[int64]*cohort
	guarded  bool          // the guard is open
	recent   []record.Lane // the last 100 grants
	daemons  map[string]int64
}

// end is one endpoint in the model.
type end struct {
	state record.State // empty: none
	place record.Lane  // where it waits, or where its lease goes back to
	score int64
	lease int64 // pool time at which the lease ends; 0: none
	rev   int   // of the record, and the revision it had when it was leased
	held  int
	kept  int64 // allocations, in the set or in the record
	trial int64 // the cohort of the lease; 0: it is no trial
}

// cohort is what was admitted in one window.
type cohort struct{ n, limit, passed, failed int64 }

func (m *model) sorted() []string { return slices.Sorted(maps.Keys(m.ends)) }

func (e *end) member() bool { return e.state == record.Eligible }

// queue is who waits in a lane and is due, first in first out.
func (m *model) queue(lane record.Lane, now int64) (ids []string) {
	for _, id := range m.sorted() {
		e := m.ends[id]
		if e.state != "" && e.lease == 0 && e.place == lane && (lane == record.Urgent || e.score <= now) {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b string) int { return int(m.ends[a].score - m.ends[b].score) })
	return ids
}

const (
	modelTick   = 2
	modelMost   = 7
	modelWindow = int64(5 * 60_000)
	modelLease  = int64(10 * 60_000)
	modelAlive  = int64(15 * 60_000)
)

// claim says whom a claim at pool time now is granted.
func (m *model) claim(daemon string, slots int, now int64) (ids []string) {
	for _, e := range m.ends {
		if e.lease != 0 && e.lease < now {
			e.lease = 0
		}
	}
	m.daemons[daemon] = now
	maps.DeleteFunc(m.daemons, func(_ string, last int64) bool { return last < now-modelAlive })
	m.admitted = slices.DeleteFunc(m.admitted, func(ms int64) bool { return ms < now-modelWindow })
	limit := m.learn(now)
	queues, sum := map[record.Lane][]string{}, 0
	for _, lane := range record.Lanes {
		queues[lane] = m.queue(lane, now)
		if lane == record.Recovery {
			queues[lane] = queues[lane][:min(len(queues[lane]), max(0, int(limit)-len(m.admitted)))]
		}
		sum += len(queues[lane])
	}
	n := min(slots, (sum+len(m.daemons)-1)/len(m.daemons))
	for range n {
		lane := m.next(queues)
		id := queues[lane][0]
		queues[lane] = queues[lane][1:]
		e := m.ends[id]
		e.lease, e.held, e.trial = now+modelLease, e.rev, 0
		if lane == record.Recovery {
			m.admitted = append(m.admitted, now)
			m.admit(e, now/modelWindow, limit)
		}
		ids = append(ids, id)
	}
	return ids
}

// learn says how many a window admits now: the youngest cohort that can be judged decides.
func (m *model) learn(now int64) int64 {
	due, running := len(m.queue(record.Recovery, now)), len(m.cohorts)
	most := int64(modelMost)
	if m.guarded {
		most = modelTick
	}
	judged := false
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(m.cohorts))) {
		c := m.cohorts[k]
		switch {
		case k == now/modelWindow:
			continue
		case judged:
		case 10*c.passed >= 8*c.n:
			if judged = true; 2*c.n >= c.limit {
				m.trickle = max(m.trickle, 2*c.limit)
			}
		case 2*c.failed > c.n:
			judged, m.trickle = true, modelTick
		case k >= (now-modelLease)/modelWindow && c.passed+c.failed < c.n:
			continue
		}
		delete(m.cohorts, k)
	}
	if due == 0 && running == 0 {
		m.trickle = modelTick
	}
	m.trickle = max(modelTick, min(m.trickle, most))
	return m.trickle
}

func (m *model) admit(e *end, k, limit int64) {
	c := m.cohorts[k]
	if c == nil {
		c = &cohort{}
		m.cohorts[k] = c
	}
	c.n, c.limit, e.trial = c.n+1, max(c.limit, limit), k
}

// next is the first lane with due work, but a starving one before all others.
func (m *model) next(queues map[record.Lane][]string) (lane record.Lane) {
	if len(m.recent) == 100 {
		m.recent = m.recent[1:]
	}
	for _, l := range slices.Backward(record.Lanes) {
		if len(queues[l]) > 0 {
			lane = l
		}
	}
	for _, l := range slices.Backward(record.Lanes) {
		share := 0
		for _, r := range m.recent {
			if r == l {
				share++
			}
		}
		if len(queues[l]) > 0 && share < 10 {
			lane = l
		}
	}
	m.recent = append(m.recent, lane)
	return lane
}

// low is the lowest score in the set, or the highest that ever was the lowest.
func (m *model) low() int64 {
	low := int64(-1)
	for _, e := range m.ends {
		if e.member() && (low < 0 || e.kept < low) {
			low = e.kept
		}
	}
	m.lowest = max(m.lowest, low)
	return m.lowest
}

// turn gives the endpoint another state, as a written record does.
func (m *model) turn(e *end, to record.State) {
	if e.member() && to != record.Eligible {
		m.low()
	}
	if to == record.Eligible && !e.member() {
		e.kept = max(e.kept, m.low())
	}
	e.state = to
	e.rev++
}

// send puts it into a lane, or its lease's way back; what waits in the urgent lane stays.
func (e *end) send(lane record.Lane, due int64) {
	if e.lease == 0 && e.place == record.Urgent && (lane == record.Recheck || lane == record.CandidateQueue) {
		return
	}
	e.place, e.score = lane, due
}

func (m *model) counts() map[record.State]int64 {
	n := map[record.State]int64{}
	for _, e := range m.ends {
		if e.state != "" {
			n[e.state]++
		}
	}
	return n
}

// least is the member workers are given next.
func (m *model) least() (id string) {
	for _, i := range m.sorted() {
		if e := m.ends[i]; e.member() && (id == "" || e.kept < m.ends[id].kept) {
			id = i
		}
	}
	return id
}

// String is for the log of a failed trace.
func (m *model) String() string {
	var b strings.Builder
	for _, id := range m.sorted() {
		fmt.Fprintf(&b, "%s %+v\n", id, *m.ends[id])
	}
	return b.String()
}
