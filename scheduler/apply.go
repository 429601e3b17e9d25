package scheduler

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"go.uber.org/zap"
)

// Apply replaces the checks and the rhythm of a running daemon. A check that did not change
// goes on untouched, unless another daemon's configuration of it had counted until now; its lists are read again. Of one that did, probes in flight finish under the rules they began
// with, while its next claims follow the new ones. An error leaves everything as it was.
func (d *Daemon) Apply(checks []Check, tick time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.claims == nil { // it stops
		return nil
	}
	again := d.every != tick && tick > 0
	if again {
		d.every = tick
	}
	var changed []Check
	named := map[string]bool{}
	for _, c := range checks {
		named[c.Name] = true
		if s := d.services[c.Name]; s == nil || again || !same(s.check, c) || s.standby.on.Load() { // what is loaded again is loaded later
			changed = append(changed, c)
		} else {
			s.readAgain()
		}
	}
	fresh, err := d.prepare(changed)
	if err != nil {
		return err
	}
	if again {
		d.clock.Remove(d.ticking)
		d.schedule()
	}
	for name, s := range d.services {
		if !named[name] {
			d.Log.Warn("a check left the configuration: its pool is left alone; `purge` removes it", zap.String("check", name))
			delete(d.services, name)
			d.ending.Go(func() { s.end(); d.leave(map[string]*service{name: s}); d.Watch.Gone(name) })
		}
	}
	for _, s := range fresh {
		if old := d.services[s.check.Name]; old != nil {
			old.halt()
			d.ending.Go(old.end)
		}
		d.services[s.check.Name] = s
		s.begin(d.claims)
	}
	d.serving.Store(int64(len(d.services)))
	return nil
}

// same reports whether two checks were made of the same.
func same(a, b Check) bool { return a.Made != nil && reflect.DeepEqual(a.Made, b.Made) }

// Ticked is how long ago the check that is latest completed a tick; 0 before the first.
// Redis being slow or away does not stop ticks: they end with an error.
func (d *Daemon) Ticked() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	longest := time.Duration(0)
	for _, s := range d.services {
		longest = max(longest, time.Since(s.started)-time.Duration(s.ticked.Load()))
	}
	return longest
}

// Lag is how long ago each check completed its last tick, beyond the time between ticks.
func (d *Daemon) Lag() map[string]time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	late := map[string]time.Duration{}
	for name, s := range d.services {
		late[name] = max(0, time.Since(s.started)-time.Duration(s.ticked.Load())-s.every)
	}
	return late
}

// StandsBy reports whether another configuration of a check counts, so that this daemon leaves
// it alone.
func (d *Daemon) StandsBy(check string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.services[check]
	return s != nil && s.standby.on.Load()
}

// Panics counts the internal faults contained so far.
func (d *Daemon) Panics() int64 { return d.panics.Load() }

// Heard is closed once Redis has answered for the first time.
func (d *Daemon) Heard() <-chan struct{} { return d.health.first }

// Names are the checks it serves, sorted.
func (d *Daemon) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.services))
}

// TickEvery is the time between ticks.
func (d *Daemon) TickEvery() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.every
}
