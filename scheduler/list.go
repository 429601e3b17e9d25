package scheduler

import (
	"context"
	"hash/fnv"
	"math"
	"time"

	"proxyward/checks/endpoint"
	"proxyward/scheduler/policy"
	"proxyward/store"
	"proxyward/store/record"
)

// Listing is what applying a list to a pool did.
type Listing struct {
	New, Returned, Changed, Retired int
	Unchanged                       int
}

// Enroll makes every listed endpoint known to the pool: new ones become candidates, known
// ones keep their history, a changed password makes an endpoint due at once. First probes
// are scattered over spread by a hash of the id.
func Enroll(ctx context.Context, p *store.Pool, source string, by record.By, list []endpoint.Endpoint, spread time.Duration) (Listing, error) {
	var sum Listing
	byID := make(map[string]endpoint.Endpoint, len(list))
	ids := make([]string, 0, len(list))
	for _, e := range list {
		id := e.ID()
		if _, twice := byID[id]; !twice {
			ids = append(ids, id)
		}
		byID[id] = e
	}
	for len(ids) > 0 {
		n := min(amendBatch, len(ids))
		part, err := enrollBatch(ctx, p, source, by, ids[:n], byID, spread)
		sum.add(part)
		if err != nil {
			return sum, err
		}
		ids = ids[n:]
	}
	return sum, nil
}

func enrollBatch(ctx context.Context, p *store.Pool, source string, by record.By, ids []string, byID map[string]endpoint.Endpoint, spread time.Duration) (Listing, error) {
	var sum Listing
	kinds := map[string]*int{}
	outcomes, err := Amend(ctx, p, ids, func(e store.Entry, now int64) (store.Change, bool, error) {
		full := byID[e.ID].URL()
		if e.Known() && !owns(source, by, e.Record) {
			full = e.URL
		}
		l := policy.Listed{Source: source, URLChanged: e.Known() && full != e.URL, Delay: scatter(e.ID, spread)}
		at := policy.At{Ms: now, By: by}
		if !e.Known() {
			kinds[e.ID] = &sum.New
			t, err := policy.Enroll(l, at)
			return store.Change{Transition: t, URL: full}, err == nil, err
		}
		t, write, err := policy.Relist(e.Record, l, at)
		kinds[e.ID] = &sum.Unchanged
		if t.From != t.To {
			kinds[e.ID] = &sum.Returned
		} else if l.URLChanged {
			kinds[e.ID] = &sum.Changed
		}
		return store.Change{Transition: t, URL: full}, write, err
	})
	for _, o := range outcomes {
		if count := kinds[o.ID]; count != nil {
			*count++
		}
	}
	return sum, err
}

// owns: where several sources list an endpoint, the first one's password counts, and an
// operator's; else two lists that differ would change it back and forth for ever.
func owns(source string, by record.By, rec record.Record) bool {
	return by == record.ByOperator || len(rec.Sources) == 0 || rec.Sources[0] == source
}

func (l *Listing) add(o Listing) {
	l.New, l.Returned, l.Changed = l.New+o.New, l.Returned+o.Returned, l.Changed+o.Changed
	l.Retired, l.Unchanged = l.Retired+o.Retired, l.Unchanged+o.Unchanged
}

// scatter places an endpoint within width by a hash of its id: always at the same place.
func scatter(id string, width time.Duration) time.Duration {
	h := fnv.New64a()
	h.Write([]byte(id))
	x := h.Sum64() // FNV leaves the high bits of similar strings alike: mix them (splitmix64)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return time.Duration(float64(x^x>>31) / math.MaxUint64 * float64(width))
}

// spread is the width over which n endpoints are scattered: never faster than the rate
// and never slower than once in a recheck interval.
func (c Check) spread(n int) time.Duration {
	if c.Limits.Rate <= 0 {
		return 0
	}
	return min(c.Policy.Recheck, time.Duration(float64(n)/c.Limits.Rate*float64(time.Second)))
}
