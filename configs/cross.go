package configs

import (
	"fmt"
	"net/url"
	"time"

	"proxyward/scheduler"
)

// checkPolicy finds values that are sound alone and impossible together.
func (d *decoder) checkPolicy(c *checkFile, path string, tick time.Duration) {
	if t := c.Trickle; t.PerTick > t.MaxPerTick {
		d.wrong(path+".trickle.max_per_tick", "%d is less than per_tick, %d: raise it", t.MaxPerTick, t.PerTick)
	}
	if c.Trickle.Window < tick {
		d.wrong(path+".trickle.window", "%s is shorter than scheduler.tick, %s: a window is one tick at least",
			writeSpan(c.Trickle.Window), writeSpan(tick))
	}
	if c.Recheck < tick {
		d.wrong(path+".recheck", "%s is shorter than scheduler.tick, %s: recheck less often, or tick more often",
			writeSpan(c.Recheck), writeSpan(tick))
	}
	if c.Cooldown.Base > c.Cooldown.Max {
		d.longer(path+".cooldown", c.Cooldown.Base, c.Cooldown.Max)
	}
	for key, r := range c.Cooldown.Reasons {
		if r.Max > 0 && r.Base > r.Max {
			d.longer(path+".cooldown.reasons."+key, r.Base, r.Max)
		}
		if r.DisableAfter == 0 && d.given(path+".cooldown.reasons."+key+".disable_after") {
			r.DisableAfter = -1 // never, whatever a less specific rule says
			c.Cooldown.Reasons[key] = r
		}
	}
	if r := c.Reports; r.DistinctWorkers > r.SuspectAfter {
		d.wrong(path+".reports.distinct_workers", "%d workers cannot agree in suspect_after, %d, reports: lower it", r.DistinctWorkers, r.SuspectAfter)
	}
}

func (d *decoder) longer(path string, base, most time.Duration) {
	d.wrong(path+".base", "%s is longer than max, %s: lower base or raise max", writeSpan(base), writeSpan(most))
}

// sources are the lists of a check.
func (d *decoder) sources(c *checkFile, path string) []scheduler.Source {
	var out []scheduler.Source
	seen := map[string]int{}
	for i, s := range c.Endpoints {
		at := fmt.Sprintf("%s.endpoints[%d]", path, i)
		d.source(&s, at)
		first, again := seen[s.File.value+"\x00"+s.URL.value]
		if again {
			d.wrong(at, "the same list as endpoints[%d]: remove one", first)
			continue
		}
		seen[s.File.value+"\x00"+s.URL.value] = i
		out = append(out, scheduler.Source{
			File: s.File.value, URL: s.URL.value, Scheme: s.Scheme, Refresh: s.Refresh, AllowPrivate: s.AllowPrivate,
		})
	}
	return out
}

func (d *decoder) source(s *sourceFile, path string) {
	switch {
	case s.File.value == "" && s.URL.value == "" && len(d.places) == 0:
		d.wrong(path+".file", "no list: name a file with one proxy a line")
	case s.File.value == "" && s.URL.value == "":
		d.wrong(path, "no list: write file or url")
	case s.File.value != "" && s.URL.value != "":
		d.wrong(path+".url", "beside file: write them as two entries")
	case s.URL.value != "" && !webAddress(s.URL.value):
		d.wrong(path+".url", "not the address of a list: write http://HOST/PATH or https://HOST/PATH (the value is not shown)")
	case s.URL.value == "" && d.given(path+".allow_private"):
		d.wrong(path+".allow_private", "beside file: only lists from the web are kept off private addresses; remove it")
	}
}

func webAddress(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}
