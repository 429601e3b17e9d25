package health

import (
	"fmt"
	"strconv"
	"time"
)

// day is how long a correction of the clock is worth a warning.
const day = 24 * time.Hour

func (p Pool) judge(owned bool) []Finding {
	switch {
	case p.Broken != "":
		return []Finding{hurts("pool", "it cannot be read: "+p.Broken, "see `proxyward fsck --check "+p.Name+"`")}
	case !p.Exists:
		return []Finding{ok("pool", "nothing yet: the first list that `proxyward run` can read makes it")}
	}
	var found []Finding
	if owned && !p.Configured {
		found = append(found, warning("pool", "the configuration does not name it: nobody serves it",
			"name it, or remove it: `proxyward purge --check "+p.Name+"`"))
	}
	if n, err := strconv.Atoi(p.Schema); p.Schema != "" && (err != nil || n > p.Newest) {
		found = append(found, hurts("schema", fmt.Sprintf("it has schema %s; this version knows those up to %d", p.Schema, p.Newest),
			"use the version of proxyward that wrote it"))
	}
	found = append(found, p.alive(owned)...)
	return append(found, p.clock())
}

// alive is about who serves the pool, and whom it serves.
func (p Pool) alive(owned bool) (found []Finding) {
	if p.Daemons == 0 && (p.Configured || !owned) {
		found = append(found, warning("daemons", "no daemon is alive: workers go on with the set as it is, and nobody checks it", "start `proxyward run`"))
	}
	limit := max(3*p.Recheck, 15*time.Minute)
	if age := time.Duration(p.NowMs-p.LastCommitMs) * time.Millisecond; p.Daemons > 0 && p.Endpoints > 0 && p.LastCommitMs > 0 && age > limit {
		found = append(found, warning("daemons", fmt.Sprintf("%d alive, yet no result for %s", p.Daemons, span(age)),
			"see the daemons' logs; `proxyward status` says what is due"))
	}
	if p.Endpoints > 0 && p.Eligible == 0 {
		found = append(found, warning("pool", fmt.Sprintf("none of its %d endpoints is eligible: workers get nothing", p.Endpoints),
			"`proxyward endpoints` says why each is out"))
	}
	if found == nil {
		found = append(found, ok("pool", "%d of %d endpoints eligible, %d daemons alive", p.Eligible, p.Endpoints, p.Daemons))
	}
	return found
}

func (p Pool) clock() Finding {
	offset, behind := time.Duration(p.OffsetMs)*time.Millisecond, time.Duration(p.BehindMs)*time.Millisecond
	const mend = "let NTP slew the clock of Redis's machine; after a failover, see that all servers agree"
	since := time.Duration(p.NowMs-p.HeldMs) * time.Millisecond
	switch {
	case behind > time.Second:
		return warning("clock", "Redis's clock is "+span(behind)+" behind the pool's time: it was set back, or another server took over; the next claim takes that out", mend)
	case p.HeldMs > p.NowMs:
		return warning("clock", "a leap of Redis's clock was just taken out: no lease expires for "+span(-since), mend)
	case p.HeldMs > 0 && since < day:
		return warning("clock", fmt.Sprintf("Redis's clock leapt some %s ago; the pool's time went on (%s in all)", span(since), signed(offset)), mend)
	case p.OffsetMs != 0:
		return ok("clock", "the pool's time is %s from Redis's clock: leaps of it that were taken out", signed(offset))
	}
	return ok("clock", "the pool's time is that of Redis's clock")
}
