package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"proxyward/store/record"
)

// Sweep goes through a whole pool in steps of bounded size: first whether each key holds what
// it must, and the pool's books; then the eligible set, for strays; then all records; then who
// stands in any other key without a record; the counts and the jobs last. It mends what it
// meets, unless it only looks. Not safe for concurrent use; any
// number of sweeps may go through one pool at once.
type Sweep struct {
	pool   *Pool
	mend   bool
	last   int // part
	part   int
	cursor uint64
	unsafe bool            // some endpoint is left as it is: the counts cannot be told from the places
	begin  tally           // when the records' turn began
	trials map[string]bool // endpoints whose records say permitted
}

// Swept is what one step came to.
type Swept struct {
	Checked    int // records
	Violations []Violation
}

// NewSweep begins a sweep that mends.
func (p *Pool) NewSweep() *Sweep { return newSweep(p, true) }

// NewStraySweep begins a sweep through the eligible set only, which is cheap: workers that
// break the rules bring back who was taken out, and others are given it.
func (p *Pool) NewStraySweep() *Sweep {
	return &Sweep{pool: p, mend: true, part: partMembers, last: partMembers}
}

func newSweep(p *Pool, mend bool) *Sweep {
	s := &Sweep{pool: p, mend: mend, trials: map[string]bool{}}
	s.last = partOthers + len(s.others()) + 1 // the counts and the jobs
	return s
}

// eligibleRecord is how the record of an eligible endpoint begins.
const eligibleRecord = `{"state":"eligible"`

// The parts of a sweep, in order.
const (
	partShape = iota
	partReadable
	partMembers
	partRecords
	partOthers // one for each key
)

func (s *Sweep) others() []string {
	k := s.pool.keys
	return append(k.lanes(), k.leases(), k.tokens(), k.urls(), k.holds(), k.inflight())
}

// Done reports whether all has been gone through.
func (s *Sweep) Done() bool { return s.part > s.last }

// Step goes on by about n ids, or by as many as one read of Redis gives.
func (s *Sweep) Step(ctx context.Context, n int) (sum Swept, err error) {
	if s.part == partShape {
		if sum.Violations, err = s.pool.Reshape(ctx, s.mend); err != nil {
			return sum, err
		}
		if s.part++; !s.mend && slices.ContainsFunc(sum.Violations, Violation.shape) {
			s.part = s.last + 1 // nothing more can be read
			return sum, nil
		}
	}
	now, err := s.pool.Time(ctx)
	if err != nil {
		return sum, err
	}
	for n > 0 && !s.Done() && err == nil {
		var ids int
		ids, err = s.advance(ctx, now, &sum)
		n -= max(ids, batch/4)
	}
	return sum, err
}

// advance does one read of the part under way.
func (s *Sweep) advance(ctx context.Context, now int64, sum *Swept) (n int, err error) {
	var found []Violation
	switch keys := s.others(); {
	case s.part == partReadable:
		if s.mend {
			found, err = s.pool.readable(ctx)
		}
	case s.part == partMembers:
		n, found, err = s.strays(ctx, s.pool.keys.eligible(), eligibleRecord, now)
	case s.part == partRecords:
		n, found, err = s.records(ctx, now, sum)
	case s.part < partOthers+len(keys):
		key, begins := keys[s.part-partOthers], ""
		if key == s.pool.keys.inflight() {
			begins = eligibleRecord
		}
		n, found, err = s.strays(ctx, key, begins, now)
	case s.part == partOthers+len(keys):
		found, err = s.counts(ctx)
	default:
		found, err = s.jobs(ctx)
	}
	for _, v := range found {
		s.unsafe = s.unsafe || !v.Mended
	}
	sum.Violations = append(sum.Violations, found...)
	if err == nil && s.cursor == 0 {
		s.part++
	}
	return n, err
}

// records checks some records with all that belongs to them.
func (s *Sweep) records(ctx context.Context, now int64, sum *Swept) (n int, found []Violation, err error) {
	if s.cursor == 0 {
		if s.begin, err = s.pool.tally(ctx); err != nil {
			return 0, nil, err
		}
	}
	ids, next, err := s.pool.scanBatch(ctx, s.pool.keys.endpoints(), s.cursor)
	if err != nil {
		return 0, nil, err
	}
	entries, _, err := s.pool.Look(ctx, ids)
	if err != nil {
		return 0, nil, err
	}
	for _, e := range entries {
		if e.Known() {
			sum.Checked++
		}
		if e.Record.State == record.Permitted {
			s.trials[e.ID] = true // a scan can meet one twice
		}
	}
	found, err = s.settle(ctx, entries, now)
	s.cursor = next
	return len(ids), found, err
}

// strays looks for members of a key whose record does not begin as it must.
func (s *Sweep) strays(ctx context.Context, key, begins string, now int64) (n int, found []Violation, err error) {
	ids, next, err := s.pool.scanBatch(ctx, key, s.cursor)
	if err != nil {
		return 0, nil, err
	}
	for rest := ids; len(rest) > 0; {
		some := rest[:min(batch, len(rest))]
		rest = rest[len(some):]
		args := []any{begins}
		for _, id := range some {
			args = append(args, id)
		}
		strays, err := s.pool.run(ctx, straysScript, []string{s.pool.keys.endpoints()}, args).StringSlice()
		if err != nil {
			return 0, found, fmt.Errorf("look for strays: %w", err)
		}
		entries, _, err := s.pool.Look(ctx, strays)
		if err != nil {
			return 0, found, err
		}
		more, err := s.settle(ctx, entries, now)
		found = append(found, more...)
		if err != nil {
			return 0, found, err
		}
	}
	s.cursor = next
	return len(ids), found, nil
}

// settle mends entries, or says what is wrong with them.
func (s *Sweep) settle(ctx context.Context, entries []Entry, now int64) (found []Violation, err error) {
	if s.mend {
		return s.pool.mend(ctx, entries, now)
	}
	for _, e := range entries {
		found = append(found, e.check(now)...)
	}
	return found, nil
}

// counts checks I4, once all else is in order.
func (s *Sweep) counts(ctx context.Context) ([]Violation, error) {
	if !s.mend || s.unsafe {
		t, err := s.pool.tally(ctx)
		return t.check(), err
	}
	return s.pool.recount(ctx, func(t tally) int64 {
		if t.commitMs != s.begin.commitMs || !maps.Equal(t.counts, s.begin.counts) || t.records != s.begin.records {
			return -1 // records changed since they were counted
		}
		return int64(len(s.trials))
	})
}
