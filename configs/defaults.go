package configs

import (
	"fmt"
	"time"

	"proxyward/checks"
	"proxyward/scheduler"
	"proxyward/scheduler/guard"
	"proxyward/scheduler/policy"
)

func plain(s string) text { return text{s, s} }

func fileDefaults() file {
	return file{
		redis:     redisFile{url: plain("redis://127.0.0.1:6379/0"), prefix: plain("proxyward")},
		scheduler: Scheduler{Tick: time.Second},
		prober:    Prober{Concurrency: 512},
		admin:     adminFile{listen: plain("127.0.0.1:9180")},
		log:       Log{Level: "info", Format: "json"},
	}
}

func checkDefaults() checkFile {
	jitter := 0.2
	return checkFile{
		Request: requestDefaults(),
		Expect:  expectDefaults(),
		Recheck: 5 * time.Minute, Rise: 1, Fall: 1, Confirm: 10 * time.Second,
		Trickle:  scheduler.Trickle{PerTick: 5, MaxPerTick: 200, Window: time.Second},
		Limits:   scheduler.Limits{Rate: 200, Concurrency: 256, PerHost: 16},
		Cooldown: policy.Cooldown{Rule: policy.Rule{Base: 30 * time.Second, Factor: 2, Max: 30 * time.Minute, Jitter: &jitter}},
		Scores:   scoresFile{Initial: -1, Reentry: "keep"},
		Missing:  missingFile{OnMissing: "disable", MaxShrink: 0.5, ForgetAfter: 30 * day},
		Reports:  scheduler.Reports{SuspectAfter: 3, Within: time.Minute, DistinctWorkers: 1, Stretch: 1},
		Guard:    guardFile{guard.Rules{Enabled: true, TargetShare: 0.6, AllShare: 0.95}, "none"},
	}
}

func stepDefaults() stepFile { return stepFile{Request: requestDefaults(), Expect: expectDefaults()} }

func requestDefaults() requestFile {
	return requestFile{
		Method: plain("GET"), HTTP2: "auto", Timeout: 15 * time.Second,
		Timeouts: checks.Timeouts{Connect: 5 * time.Second, Handshake: 5 * time.Second, FirstByte: 8 * time.Second},
		TLS:      tlsFile{MinVersion: plain("1.2")},
		ProxyTLS: tlsFile{MinVersion: plain("1.2")},
	}
}

func expectDefaults() expectFile {
	return expectFile{Status: []checks.StatusRange{{From: 200, To: 299}}, MaxHeaders: 64 << 10, MaxBody: 256 << 10}
}

func sourceDefaults() sourceFile { return sourceFile{Scheme: "http", Refresh: "@every 1m"} }

// yield lets a default give way to what is written beside it.
func (d *decoder) yield(c *checkFile, path string, tick time.Duration) {
	if !d.given(path + ".trickle.max_per_tick") {
		c.Trickle.MaxPerTick = max(c.Trickle.MaxPerTick, c.Trickle.PerTick)
	} else if !d.given(path + ".trickle.per_tick") {
		c.Trickle.PerTick = min(c.Trickle.PerTick, c.Trickle.MaxPerTick)
	}
	if !d.given(path + ".trickle.window") {
		c.Trickle.Window = max(c.Trickle.Window, tick)
	}
	if !d.given(path + ".cooldown.max") {
		c.Cooldown.Max = max(c.Cooldown.Max, c.Cooldown.Base)
	} else if !d.given(path + ".cooldown.base") {
		c.Cooldown.Base = min(c.Cooldown.Base, c.Cooldown.Max)
	}
	for i := range c.Endpoints {
		if s := &c.Endpoints[i]; s.URL.value != "" && !d.given(fmt.Sprintf("%s.endpoints[%d].refresh", path, i)) {
			s.Refresh = "@every 10m" // somebody else's server
		}
	}
}

// yieldRequest keeps the stages' defaults inside the whole.
func (d *decoder) yieldRequest(r *requestFile, path string) {
	for name, stage := range r.stages() {
		if !d.given(path + ".timeouts." + name) {
			*stage = min(*stage, r.Timeout)
		}
	}
}

func (r *requestFile) stages() map[string]*time.Duration {
	return map[string]*time.Duration{
		"connect": &r.Timeouts.Connect, "handshake": &r.Timeouts.Handshake, "first_byte": &r.Timeouts.FirstByte,
	}
}
