package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Warning is something about the settings that the operator should change or know.
type Warning struct {
	Code string
	// Fatal: it cannot work as it is. Else it works, though not as the setting says.
	Fatal bool
	What  string // a sentence without its full stop
	Mend  string // the same: what to change
}

// warnings looks for settings that do not go together, what cannot work first.
func (s Settings) warnings() (found []Warning) {
	for _, look := range []func(Settings) (Warning, bool){
		rechecksOutrun, hostTooNarrow, trickleOverRate, growthOverRate, growthOverSlots, trialsHang,
		confirmUnderTick, pauseUnderTick, recheckUnderTimeout, outageDisables, floorKeepsAll,
	} {
		if w, is := look(s); is {
			found = append(found, w)
		}
	}
	return found
}

// rechecksOutrun: more falls due than can be probed, for one of several reasons.
func rechecksOutrun(s Settings) (Warning, bool) {
	need := s.due(s.Endpoints)
	s.Largest = 0 // hostTooNarrow tells of that
	rate, by := s.capacity(s.Latency)
	if need <= rate {
		return Warning{}, false
	}
	every := seconds(math.Ceil(float64(s.Endpoints) / rate))
	w := Warning{Fatal: true, What: fmt.Sprintf("%s endpoints every %s are %s probes a second, ", count(s.Endpoints), span(s.Policy.Recheck), number(need)),
		Mend: fmt.Sprintf("set recheck to %s or more, ", span(every))}
	slots, _ := s.slots()
	busy := need * s.Latency.Seconds()
	switch by {
	case ByRate:
		w.Code = "rechecks_outrun_rate"
		w.What += fmt.Sprintf("limits.rate allows %s: each is re-checked only every %s", number(rate), span(every))
		w.Mend += fmt.Sprintf("or limits.rate to %s/s or more", number(math.Ceil(need)))
	case ByTick:
		w.Code = "tick_too_slow"
		w.What += fmt.Sprintf("a rate of %s/s with a tick of %s makes %s: after each probe the budget is spent, and nobody looks again before the next tick",
			number(s.Rate), span(s.Policy.Tick), number(rate))
		w.Mend += fmt.Sprintf("or scheduler.tick to @every %s", span(shortTick(s)))
	default:
		w.Code = "too_few_slots"
		w.What += fmt.Sprintf("which keep %s slots busy for %s each: there are %s (%s)", number(math.Ceil(busy)), span(s.Latency), number(slots), by)
		w.Mend += fmt.Sprintf("%s, or run %s daemons", s.moreSlots(busy), number(math.Ceil(busy*float64(s.Daemons)/slots)))
	}
	return w, true
}

// moreSlots says what gives this check so many slots in the whole fleet.
func (s Settings) moreSlots(busy float64) string {
	each := math.Ceil(busy / float64(s.Daemons))
	words := []string{}
	if each > float64(s.Concurrency) {
		words = append(words, fmt.Sprintf("limits.concurrency to %s", number(each)))
	}
	switch {
	case each > float64(s.Share) && s.Share < s.Concurrency: // the other checks get as much
		words = append(words, fmt.Sprintf("prober.concurrency to %s", number(math.Ceil(each*float64(s.Prober)/float64(s.Share)))))
	case each > float64(s.Prober):
		words = append(words, fmt.Sprintf("prober.concurrency to %s", number(each)))
	}
	return strings.Join(words, " and ") + " or more"
}

// shortTick is a tick of whole seconds that spends the rate.
func shortTick(s Settings) time.Duration {
	return max(time.Second, seconds(math.Floor(max(s.Rate, 1)/s.Rate)))
}

func hostTooNarrow(s Settings) (Warning, bool) {
	busy := s.due(s.Largest) * s.Latency.Seconds()
	if busy <= float64(s.Daemons*s.PerHost) {
		return Warning{}, false
	}
	each := math.Ceil(busy / float64(s.Daemons))
	return Warning{Code: "host_too_narrow", Fatal: true,
		What: fmt.Sprintf("%s endpoints are at one proxy host: their rechecks keep %s probes to it in flight, limits.per_host allows %d",
			count(s.Largest), number(math.Ceil(busy)), s.Daemons*s.PerHost),
		Mend: fmt.Sprintf("set limits.per_host to %s or more, if the host bears it, or recheck to %s or more", number(each),
			span(seconds(math.Ceil(float64(s.Largest)*s.Latency.Seconds()/float64(s.Daemons*s.PerHost)))))}, true
}

func trickleOverRate(s Settings) (Warning, bool) {
	room := s.Rate * s.Window.Seconds()
	return Warning{Code: "trickle_over_rate",
		What: fmt.Sprintf("trickle.per_tick is %d, but limits.rate allows %s probes in a window of %s", s.PerTick, number(room), span(s.Window)),
		Mend: fmt.Sprintf("set limits.rate to more than %s/s, so that rechecks go on beside a recovery, or lower per_tick",
			number(math.Ceil(float64(s.PerTick)/s.Window.Seconds())))}, float64(s.PerTick) > room
}

func growthOverRate(s Settings) (Warning, bool) {
	room := s.Rate * s.Window.Seconds()
	return Warning{Code: "growth_over_rate",
		What: fmt.Sprintf("trickle.max_per_tick is %d and never reached: limits.rate allows %s probes in a window of %s", s.MaxPerTick, number(math.Floor(room)), span(s.Window)),
		Mend: fmt.Sprintf("set limits.rate to %s/s or more, or max_per_tick to %s or less", number(math.Ceil(float64(s.MaxPerTick)/s.Window.Seconds())), number(max(1, math.Floor(room)))),
	}, float64(s.MaxPerTick) > room && float64(s.PerTick) <= room
}

func growthOverSlots(s Settings) (Warning, bool) {
	slots, by := s.slots()
	busy := min(s.limit()/s.Window.Seconds(), s.Rate) * s.Latency.Seconds()
	return Warning{Code: "growth_over_slots",
		What: fmt.Sprintf("the trickle can grow to %s a window of %s, which keeps %s slots busy: there are %s (%s)", number(s.limit()), span(s.Window), number(math.Ceil(busy)), number(slots), by),
		Mend: fmt.Sprintf("set %s, or lower trickle.max_per_tick", s.moreSlots(busy))}, busy > slots
}

// trialsHang: while an outage lasts, trials that hang must leave slots for the healthy.
func trialsHang(s Settings) (Warning, bool) {
	slots, by := s.slots()
	busy := float64(s.PerTick) / s.Window.Seconds() * s.Timeout.Seconds()
	return Warning{Code: "trials_take_all_slots",
		What: fmt.Sprintf("in an outage where proxies hang, %d trials a window of %s that last %s take %s slots: there are %s (%s), and rechecks fall behind",
			s.PerTick, span(s.Window), span(s.Timeout), number(math.Ceil(busy)), number(slots), by),
		Mend: fmt.Sprintf("set %s, or lower trickle.per_tick or the timeout", s.moreSlots(2*busy))}, busy > slots
}

func confirmUnderTick(s Settings) (Warning, bool) {
	return Warning{Code: "confirm_under_tick",
		What: fmt.Sprintf("confirm is %s, but daemons look for work every %s (scheduler.tick)", span(s.Policy.Confirm), span(s.Policy.Tick)),
		Mend: fmt.Sprintf("set confirm to %s or more, or tick more often", span(s.Policy.Tick))}, s.Policy.Confirm < s.Policy.Tick
}

func pauseUnderTick(s Settings) (Warning, bool) {
	return Warning{Code: "pause_under_tick",
		What: fmt.Sprintf("cooldown.base is %s, but daemons look for work every %s (scheduler.tick): the first pauses last a tick", span(s.Policy.Cooldown.Base), span(s.Policy.Tick)),
		Mend: fmt.Sprintf("set cooldown.base to %s or more, or tick more often", span(s.Policy.Tick))}, s.Policy.Cooldown.Base < s.Policy.Tick
}

func recheckUnderTimeout(s Settings) (Warning, bool) {
	return Warning{Code: "recheck_under_timeout",
		What: fmt.Sprintf("recheck is %s, but a proxy that hangs is found out only after the timeout, %s", span(s.Policy.Recheck), span(s.Timeout)),
		Mend: "lower the timeout of the request, or of its stages, or re-check less often"}, s.Policy.Recheck < s.Timeout
}

func outageDisables(s Settings) (Warning, bool) {
	n := s.disables()
	return Warning{Code: "outage_disables",
		What: fmt.Sprintf("an outage in which an endpoint fails %d times disables it (disable_after): it does not come back by itself", n),
		Mend: "take disable_after off the rules that a refused or silent connection meets, or be ready to run `proxyward enable`"}, n > 0
}

func floorKeepsAll(s Settings) (Warning, bool) {
	return Warning{Code: "floor_keeps_all",
		What: fmt.Sprintf("floor keeps %s endpoints in, and the pool has %s: nobody is ever taken out", count(s.Floor), count(s.Endpoints)),
		Mend: fmt.Sprintf("set floor to well under %s", count(s.Endpoints))}, s.Floor >= s.Endpoints && s.Floor > 0
}

// span writes a duration as a setting.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// number writes three digits at least, and no more decimals than tell something.
func number(f float64) string {
	switch {
	case f >= 100 || f == math.Trunc(f):
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

// count writes a number of endpoints, thousands apart.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
