package configs

import (
	"time"

	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
	"proxyward/scheduler/policy"
)

func checkFields(c *checkFile) object {
	return object{
		{"name", anyText(&c.Name), "Lower-case letters, digits, _ and -; part of the keys in Redis."},
		{"request", requestFields(&c.Request), "What is asked of the target."},
		{"expect", expectFields(&c.Expect), "What the answer must be."},
		{"steps", list[stepFile]{&c.Steps, stepDefaults, stepFields}, "Several requests in order, with one cookie jar; instead of request and expect."},
		{"endpoints", list[sourceFile]{&c.Endpoints, sourceDefaults, sourceFields}, "The lists of proxies."},
		{"recheck", span(&c.Recheck, time.Second), "Between probes of an eligible endpoint."},
		{"rise", whole(&c.Rise, 1, 100), "Consecutive passes that make an endpoint eligible."},
		{"fall", whole(&c.Fall, 1, 100), "Consecutive failures that cool it."},
		{"confirm", span(&c.Confirm, instant), "Until the next probe while rise or fall is undecided."},
		{"trickle", object{
			{"per_tick", whole(&c.Trickle.PerTick, 1, 100_000), "Cooled endpoints admitted to a trial per window."},
			{"max_per_tick", whole(&c.Trickle.MaxPerTick, 1, 1_000_000), "How far that may grow while trials pass."},
			{"window", span(&c.Trickle.Window, time.Second), "The length of the window; a tick at least."},
		}, "How fast cooled endpoints come back, for the whole fleet."},
		{"limits", object{
			{"rate", rate(&c.Limits.Rate), "Probes of the whole fleet."},
			{"concurrency", whole(&c.Limits.Concurrency, 1, 100_000), "Probes in flight of each daemon."},
			{"per_host", whole(&c.Limits.PerHost, 1, 100_000), "Probes in flight of each daemon to one proxy host."},
		}, "The load this check makes."},
		{"cooldown", cooldownFields(&c.Cooldown), "How long a failed endpoint pauses."},
		{"scores", object{
			{"initial", initial(&c.Scores.Initial), "Where a new member enters: the pool's lowest count, or a number."},
			{"reentry", word(&c.Scores.Reentry, "keep", "min"), "Where a returning one enters."},
		}, "How allocations are counted."},
		{"guard", guardFields(&c.Guard), "When nobody is ejected because the target or our network is down."},
		{"jobs", boolean(&c.Jobs), "Count work in flight: workers take the least busy endpoint and end their jobs."},
		{"sources", object{
			{"on_missing", word(&c.Missing.OnMissing, "disable", "keep"), "What happens to an endpoint that left every list."},
			{"max_shrink", share(&c.Missing.MaxShrink), "A list that loses more at once retires nobody."},
			{"forget_after", span(&c.Missing.ForgetAfter, 0), "A retired endpoint is forgotten after this; 0: never."},
		}, "What a changed list does."},
		{"floor", floor(&c.Floor), "Never fewer eligible than this."},
		{"reports", object{
			{"suspect_after", whole(&c.Reports.SuspectAfter, 1, 1000), "Bad reports that have an endpoint probed soon."},
			{"within", span(&c.Reports.Within, time.Second), "The time in which they must come."},
			{"distinct_workers", whole(&c.Reports.DistinctWorkers, 1, 1000), "Workers that must agree."},
			{"stretch", number(&c.Reports.Stretch, 1, 100), "Good reports put a recheck off, up to this many times recheck after the last probe; 1: never."},
		}, "What workers saw."},
	}
}

func sourceFields(s *sourceFile) object {
	return object{
		{"file", anyText(&s.File), "A list, one endpoint a line."},
		{"url", secretText(&s.URL), "A list on the web."},
		{"scheme", word(&s.Scheme, endpoint.Schemes...), "Of lines that name none."},
		{"refresh", crontab(&s.Refresh), "When the list is read again, as a cron expression; @every 10m for a url."},
		{"allow_private", boolean(&s.AllowPrivate), "A list from the web may lead to, and name, private addresses."},
	}
}

func guardFields(g *guardFile) object {
	return object{
		{"enabled", boolean(&g.Enabled), "Whether it ever opens."},
		{"target_share", share(&g.TargetShare), "It opens at this share of failures by the target or by silence."},
		{"all_share", share(&g.AllShare), "It opens at this share of failures of any kind."},
		{"control", word(&g.Control, "none", "direct"), "Whether the target may be asked without a proxy."},
	}
}

func cooldownFields(c *policy.Cooldown) object {
	return object{
		{"base", span(&c.Base, instant), "The first pause."},
		{"factor", number(&c.Factor, 1, 100), "Each further failure of a class multiplies the pause by this."},
		{"max", span(&c.Max, instant), "The longest pause."},
		{"jitter", optional[float64]{&c.Jitter, share}, "How far a pause is scattered to both sides."},
		{"reasons", dict[policy.Rule]{&c.Reasons, failureKind, ruleFields},
			"Rules by stage.reason, reason or stage; the most specific wins."},
	}
}

func ruleFields(r *policy.Rule) value {
	return object{
		{"on", word(&r.On, string(policy.Keep), string(policy.Cool)), "keep: no mark against the endpoint."},
		{"base", span(&r.Base, instant), "The first pause."},
		{"factor", number(&r.Factor, 1, 100), "Each further failure multiplies the pause by this."},
		{"max", span(&r.Max, instant), "The longest pause."},
		{"jitter", optional[float64]{&r.Jitter, share}, "How far a pause is scattered to both sides."},
		{"disable_after", whole(&r.DisableAfter, 0, 1_000_000), "Failures until the endpoint is disabled; 0: never."},
		{"honour_retry_after", optional[bool]{&r.HonourRetryAfter, boolean}, "Pause at least as long as the peer asks, up to max."},
	}
}

// failureKind says what is wrong with a key of cooldown.reasons.
func failureKind(key string) string {
	var stages, reasons, both []string
	for _, s := range verdict.Stages {
		stages = append(stages, string(s))
	}
	for _, r := range verdict.Reasons {
		reasons = append(reasons, string(r))
		for _, s := range stages {
			both = append(both, s+"."+string(r))
		}
	}
	known := append(append(stages, reasons...), both...)
	for _, k := range known {
		if k == key {
			return ""
		}
	}
	if best := nearest(key, known); best != "" {
		return "no such failure: did you mean " + best + "?"
	}
	return "no such failure: write a stage, a reason or stage.reason, for example connect, refused or connect.refused"
}
