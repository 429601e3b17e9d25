package operate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"proxyward/scheduler"
	"proxyward/store"
	"proxyward/store/record"
)

// Check is the status of one check. Owned: the configuration names it or, without one, a
// live daemon serves it.
type Check struct {
	Name         string           `json:"name"`
	Owned        bool             `json:"owned"`
	States       map[string]int64 `json:"states"`
	Lanes        map[string]int64 `json:"lanes"` // endpoints waiting
	Due          map[string]int64 `json:"due"`   // of these, due now
	Leases       int64            `json:"leases"`
	Jobs         int64            `json:"jobs"` // live ones of workers, where the check counts them
	Guard        Guard            `json:"guard"`
	Trickle      int64            `json:"trickle"`  // admissions per window; 0: not known
	Admitted     int64            `json:"admitted"` // in the last window
	Daemons      []Daemon         `json:"daemons"`  // live ones
	LastCommitMs int64            `json:"last_commit_ms"`
	NowMs        int64            `json:"now_ms"` // pool time

	Status store.Status `json:"-"`
	Stray  bool         `json:"-"` // there is a configuration, and it does not name the check
}

// Guard is whether the guard is open, since which pool time, and why.
type Guard struct {
	Open    bool   `json:"open"`
	SinceMs int64  `json:"since_ms"`
	Why     string `json:"why"`
}

// Daemon is a live daemon and the pool time of its last heartbeat.
type Daemon struct {
	Name        string `json:"name"`
	HeartbeatMs int64  `json:"heartbeat_ms"`
}

// deadAfter is how long ago a daemon's last heartbeat may be for it to count as live.
const deadAfter = 15 * time.Second

// Configured are the checks of a configuration; nil: there is none.
type Configured []scheduler.Check

// Check is the configuration of one check; false where there is none.
func (c Configured) Check(name string) (scheduler.Check, bool) {
	i := slices.IndexFunc(c, func(one scheduler.Check) bool { return one.Name == name })
	if i < 0 {
		return scheduler.Check{}, false
	}
	return c[i], true
}

// Names are those of the configuration.
func (c Configured) Names() []string {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].Name
	}
	return names
}

// Names are the checks of the configuration and those that have a pool, sorted.
func Names(ctx context.Context, st *store.Store, conf Configured) ([]string, error) {
	names, err := st.Checks(ctx)
	names = append(names, conf.Names()...)
	slices.Sort(names)
	return slices.Compact(names), err
}

// StatusOf reads how one check stands.
func StatusOf(ctx context.Context, st *store.Store, conf Configured, name string) (Check, error) {
	status, err := st.Pool(name).Discreet().Status(ctx)
	if err != nil {
		return Check{}, err
	}
	check, configured := conf.Check(name)
	if status.Trickle == 0 { // nothing was claimed yet: what the first claim will say
		status.Trickle = int64(check.Trickle.PerTick)
	}
	c := Check{Name: name, States: map[string]int64{}, Lanes: map[string]int64{}, Due: map[string]int64{},
		Leases: status.Leases, Jobs: status.Jobs, Trickle: status.Trickle, Admitted: status.Admitted, Daemons: live(status),
		LastCommitMs: status.LastCommitMs, NowMs: status.Now, Status: status}
	if status.Guard.OpenMs > 0 {
		c.Guard = Guard{true, status.Guard.OpenMs, status.Guard.Why}
	}
	c.Owned = configured || conf == nil && len(c.Daemons) > 0
	c.Stray = conf != nil && !configured
	for _, state := range record.States {
		c.States[string(state)] = Count(status, state)
	}
	for _, lane := range record.Lanes {
		c.Lanes[string(lane)], c.Due[string(lane)] = status.Lanes[lane].Waiting, status.Lanes[lane].Due
	}
	return c, nil
}

// live lists the daemons heard of lately, by name.
func live(s store.Status) []Daemon {
	found := []Daemon{}
	for name, at := range s.Daemons {
		if s.Now-at <= deadAfter.Milliseconds() {
			found = append(found, Daemon{name, at})
		}
	}
	slices.SortFunc(found, func(x, y Daemon) int { return cmp.Compare(x.Name, y.Name) })
	return found
}

// Count counts a state; an endpoint on trial is recorded as cooling and counts as permitted.
func Count(s store.Status, state record.State) int64 {
	trials := min(s.Trials, s.States[record.Cooling])
	switch state {
	case record.Cooling:
		return max(0, s.States[state]-trials)
	case record.Permitted:
		return s.States[state] + trials
	}
	return s.States[state]
}
