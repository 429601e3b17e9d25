package metrics

import "github.com/prometheus/client_golang/prometheus"

//go:generate go test . -run TestDocumentationIsTheTable -update

// family is one metric: the table is what docs/metrics.md is made from.
type family struct {
	name   string // without the prefix proxyward_
	kind   string // gauge, counter or histogram
	labels []string
	help   string
}

// stages of a probe last from a millisecond to a minute; as a native histogram, with
// classic buckets for servers that do not take it.
var seconds = []float64{.001, .005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// The families, in the order of the documentation. Those named in standing are read from
// Redis when they are asked for; the others count in this process.
var (
	endpoints    = family{"endpoints", "gauge", []string{"check", "state"}, "Endpoints by state, as the pool counts them."}
	laneWaiting  = family{"lane_endpoints", "gauge", []string{"check", "lane"}, "Endpoints that wait in a lane."}
	laneDue      = family{"lane_due_endpoints", "gauge", []string{"check", "lane"}, "Of these, endpoints that are due."}
	laneOldest   = family{"lane_oldest_due_seconds", "gauge", []string{"check", "lane"}, "How long the longest waiting one has been due; the urgent lane is not ordered by time."}
	liveJobs     = family{"live_jobs", "gauge", []string{"check"}, "Live jobs of workers, where the check counts them."}
	leases       = family{"leases", "gauge", []string{"check"}, "Probes under way in the whole fleet."}
	trickle      = family{"trickle_per_window", "gauge", []string{"check"}, "Recoveries that the fleet may admit per window now."}
	admitted     = family{"trickle_admitted", "gauge", []string{"check"}, "Recoveries that the fleet admitted in the last window."}
	guardOpen    = family{"guard_open", "gauge", []string{"check"}, "1 while the guard is open."}
	guardSince   = family{"guard_open_since_timestamp_seconds", "gauge", []string{"check"}, "Pool time since which the guard is open; 0 while it is closed."}
	guardOpened  = family{"guard_openings_total", "counter", []string{"check"}, "How often the guard opened, for the whole fleet."}
	daemons      = family{"daemons", "gauge", []string{"check"}, "Live daemons of the check."}
	lastCommit   = family{"last_commit_timestamp_seconds", "gauge", []string{"check"}, "Pool time of the last results written by any daemon."}
	reports      = family{"reports_total", "counter", []string{"check", "outcome"}, "Workers' reports by what came of them, for the whole fleet."}
	repaired     = family{"repaired_total", "counter", []string{"check", "invariant"}, "Records and places that were mended, by invariant, for the whole fleet."}
	redisUp      = family{"redis_up", "gauge", nil, "1 if Redis answered when the metrics were read."}
	probes       = family{"probes_total", "counter", []string{"check", "result", "stage", "reason", "blame"}, "Probes of this daemon; stage, reason and blame are empty where the result is passed."}
	stageSeconds = family{"probe_stage_duration_seconds", "histogram", []string{"check", "stage"}, "How long the stages of probes took that were entered."}
	probeSeconds = family{"probe_duration_seconds", "histogram", []string{"check", "result"}, "How long whole probes took."}
	transitions  = family{"transitions_total", "counter", []string{"check", "from", "to", "by"}, "Changes of state that this daemon made."}
	committed    = family{"results_total", "counter", []string{"check", "outcome"}, "Results that this daemon brought: applied, late (the lease was over), changed (judged again), guarded or floored (kept in)."}
	expired      = family{"leases_expired_total", "counter", []string{"check"}, "Leases of any daemon that this one found expired: their holders died, froze or were cut off."}
	ticks        = family{"ticks_total", "counter", []string{"check"}, "Ticks completed."}
	tickLag      = family{"tick_lag_seconds", "gauge", []string{"check"}, "How long ago the last tick was completed, beyond the time between ticks."}
	standby      = family{"standby", "gauge", []string{"check"}, "1 while this daemon stands by because another configuration of the check was loaded later, or because it is too old for the pool."}
	uplinkDown   = family{"uplink_down", "gauge", []string{"check"}, "1 while no proxy can be reached from this daemon and others work."}
	sources      = family{"source_endpoints", "gauge", []string{"check", "source"}, "Endpoints that the list held when it was last applied."}
	sourceRead   = family{"source_last_success_timestamp_seconds", "gauge", []string{"check", "source"}, "When the list was last read and found good, by this daemon's clock."}
	sourceFaults = family{"source_failures_total", "counter", []string{"check", "source"}, "Refreshes that retired nobody: the list could not be read, was empty or lost too much."}
	redisSeconds = family{"redis_call_duration_seconds", "histogram", []string{"script"}, "Round trips to Redis, by script, tries included."}
	redisErrors  = family{"redis_errors_total", "counter", []string{"kind"}, "Calls that Redis did not answer well."}
	reloads      = family{"config_reloads_total", "counter", []string{"result"}, "Reloads of the configuration: applied or refused."}
	reloadGood   = family{"config_last_reload_successful", "gauge", nil, "1 unless the last reload was refused."}
	panics       = family{"panics_total", "counter", nil, "Internal faults that were contained; please report them."}
	build        = family{"build_info", "gauge", []string{"version", "commit", "goversion"}, "Always 1."}
)

// families lists all of them.
var families = []family{endpoints, laneWaiting, laneDue, laneOldest, leases, liveJobs, trickle, admitted, guardOpen, guardSince, guardOpened, daemons,
	lastCommit, reports, repaired, redisUp, probes, stageSeconds, probeSeconds, transitions, committed, expired, ticks, tickLag, standby, uplinkDown,
	sources, sourceRead, sourceFaults, redisSeconds, redisErrors, reloads, reloadGood, panics, build}

const prefix = "proxyward_"

func (f family) desc() *prometheus.Desc {
	return prometheus.NewDesc(prefix+f.name, f.help, f.labels, nil)
}

func (f family) counter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + f.name, Help: f.help}, f.labels)
}

func (f family) gauge() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + f.name, Help: f.help}, f.labels)
}

func (f family) histogram() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + f.name, Help: f.help, Buckets: seconds,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100}, f.labels)
}
