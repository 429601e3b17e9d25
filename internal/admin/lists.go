package admin

import (
	"maps"
	"sync"
	"time"
)

// Lists remembers how the lists of this daemon stand. Safe for concurrent use.
type Lists struct {
	mu  sync.Mutex
	all map[listKey]List
}

type listKey struct{ check, source string }

// List is how a list stands, as this daemon saw it; times are this machine's.
type List struct {
	Endpoints     int   `json:"endpoints"`       // when it was last applied; 0: not by this daemon
	LastSuccessMs int64 `json:"last_success_ms"` // read and found good
	Failures      int   `json:"failures"`        // refreshes that retired nobody, since it was last good
}

// Good takes note of a list that was read; endpoints -1: as it was.
func (l *Lists) Good(check, source string, endpoints int) {
	l.change(check, source, func(one *List) {
		one.LastSuccessMs, one.Failures = time.Now().UnixMilli(), 0
		if endpoints >= 0 {
			one.Endpoints = endpoints
		}
	})
}

// Bad takes note of a refresh that retired nobody.
func (l *Lists) Bad(check, source string) {
	l.change(check, source, func(one *List) { one.Failures++ })
}

// Gone forgets the lists of a check.
func (l *Lists) Gone(check string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.all, func(k listKey, _ List) bool { return k.check == check })
}

func (l *Lists) change(check, source string, f func(*List)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[listKey]List{}
	}
	one := l.all[listKey{check, source}]
	f(&one)
	l.all[listKey{check, source}] = one
}

func (l *Lists) of(check, source string) List {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[listKey{check, source}]
}
