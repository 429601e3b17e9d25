package scheduler

import (
	"proxyward/checks/verdict"
	"proxyward/store/record"
)

// Watcher is told what a daemon does, to count it. Its methods are called from many
// goroutines and must be quick.
type Watcher interface {
	Probed(check string, v verdict.Verdict)
	Moved(check string, s record.Step) // by a result
	Committed(check string, c Commits)
	Claimed(check string, expired int, standby bool) // expired leases of any daemon
	Ticked(check string)
	Uplink(check string, down bool)
	Listed(check, source string, endpoints int) // a list was read and found good; endpoints -1: it is as it was
	Unlisted(check, source string)              // a refresh retired nobody
	Gone(check string)                          // the check is no longer served
}

// Commits are results by what came of them.
type Commits struct{ Applied, Late, Changed, Guarded, Floored int }

// blind is a watcher that counts nothing.
type blind struct{}

func (blind) Probed(string, verdict.Verdict) {}
func (blind) Moved(string, record.Step)      {}
func (blind) Committed(string, Commits)      {}
func (blind) Claimed(string, int, bool)      {}
func (blind) Ticked(string)                  {}
func (blind) Uplink(string, bool)            {}
func (blind) Listed(string, string, int)     {}
func (blind) Unlisted(string, string)        {}
func (blind) Gone(string)                    {}
