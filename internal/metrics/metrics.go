package metrics

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"proxyward/checks/verdict"
	"proxyward/scheduler"
	"proxyward/store/record"
)

// Metrics is told what happens. It is a scheduler.Watcher. Safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	probes, transitions, committed, expired, ticks, sourceFaults, redisErrors, reloads *prometheus.CounterVec
	stageSeconds, probeSeconds, redisSeconds                                           *prometheus.HistogramVec
	standby, uplinkDown, sources, sourceRead                                           *prometheus.GaugeVec
	reloadGood                                                                         prometheus.Gauge
}

// Version says which build this is.
type Version struct{ Version, Commit string }

// New makes an empty set of metrics.
func New(v Version) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(),
		probes: probes.counter(), transitions: transitions.counter(), committed: committed.counter(), expired: expired.counter(),
		ticks: ticks.counter(), sourceFaults: sourceFaults.counter(), redisErrors: redisErrors.counter(), reloads: reloads.counter(),
		stageSeconds: stageSeconds.histogram(), probeSeconds: probeSeconds.histogram(), redisSeconds: redisSeconds.histogram(),
		standby: standby.gauge(), uplinkDown: uplinkDown.gauge(), sources: sources.gauge(), sourceRead: sourceRead.gauge()}
	good, built := reloadGood.gauge(), build.gauge()
	m.reloadGood = good.WithLabelValues()
	m.reloadGood.Set(1)
	built.WithLabelValues(v.Version, v.Commit, runtime.Version()).Set(1)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.probes, m.transitions, m.committed, m.expired, m.ticks, m.sourceFaults, m.redisErrors, m.reloads, m.stageSeconds, m.probeSeconds,
		m.redisSeconds, m.standby, m.uplinkDown, m.sources, m.sourceRead, good, built)
	for _, applied := range []string{"applied", "refused"} {
		m.reloads.WithLabelValues(applied)
	}
	return m
}

// Follow has the pools of a daemon read when somebody asks.
func (m *Metrics) Follow(daemon Daemon, read Reader) {
	m.registry.MustRegister(&standing{read: read, daemon: daemon})
}

// Expect begins the counters of a check and its lists at zero: Prometheus sees no growth in
// one that comes into being with its first count.
func (m *Metrics) Expect(check string, sources []string) {
	m.expired.WithLabelValues(check)
	m.ticks.WithLabelValues(check)
	m.uplinkDown.WithLabelValues(check)
	m.Committed(check, scheduler.Commits{})
	for _, source := range sources {
		m.sourceFaults.WithLabelValues(check, valid(source))
	}
}

// valid is text that Prometheus takes for a label.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Handler serves the metrics, to any number at once.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Timeout: 10 * time.Second})
}

// Probed counts a probe.
func (m *Metrics) Probed(check string, v verdict.Verdict) {
	result := "failed"
	if v.Passed {
		result = "passed"
	}
	m.probes.WithLabelValues(check, result, string(v.Stage), string(v.Reason), string(v.Blame)).Inc()
	m.probeSeconds.WithLabelValues(check, result).Observe(v.Total.Seconds())
	for stage, took := range v.Timings {
		m.stageSeconds.WithLabelValues(check, string(stage)).Observe(took.Seconds())
	}
}

// Moved counts a change of state.
func (m *Metrics) Moved(check string, s record.Step) {
	from := string(s.From)
	if from == "" {
		from = "new"
	}
	m.transitions.WithLabelValues(check, from, string(s.To), string(s.By)).Inc()
}

// Committed counts results by what came of them.
func (m *Metrics) Committed(check string, c scheduler.Commits) {
	for outcome, n := range map[string]int{"applied": c.Applied, "late": c.Late, "changed": c.Changed, "guarded": c.Guarded, "floored": c.Floored} {
		m.committed.WithLabelValues(check, outcome).Add(float64(n))
	}
}

// Claimed counts a claim that Redis answered.
func (m *Metrics) Claimed(check string, expired int, standby bool) {
	m.expired.WithLabelValues(check).Add(float64(expired))
	m.standby.WithLabelValues(check).Set(number(standby))
}

// Ticked counts a completed tick.
func (m *Metrics) Ticked(check string) { m.ticks.WithLabelValues(check).Inc() }

// Uplink takes note of whether proxies can be reached from here.
func (m *Metrics) Uplink(check string, down bool) {
	m.uplinkDown.WithLabelValues(check).Set(number(down))
}

// Listed takes note of a list that was read and found good, with so many endpoints;
// -1: as it was.
func (m *Metrics) Listed(check, source string, endpoints int) {
	source = valid(source)
	m.sourceRead.WithLabelValues(check, source).SetToCurrentTime()
	if endpoints >= 0 {
		m.sources.WithLabelValues(check, source).Set(float64(endpoints))
	}
}

// Unlisted counts a refresh that retired nobody.
func (m *Metrics) Unlisted(check, source string) {
	m.sourceFaults.WithLabelValues(check, valid(source)).Inc()
}

// Reloaded counts a reload of the configuration.
func (m *Metrics) Reloaded(applied bool) {
	result := map[bool]string{true: "applied", false: "refused"}[applied]
	m.reloads.WithLabelValues(result).Inc()
	m.reloadGood.Set(number(applied))
}

// Called takes note of a round trip to Redis; kind is empty where it was answered well.
func (m *Metrics) Called(script string, took time.Duration, kind string) {
	m.redisSeconds.WithLabelValues(script).Observe(took.Seconds())
	if kind != "" {
		m.redisErrors.WithLabelValues(kind).Inc()
	}
}

// Gone forgets what was told of a check that is no longer served.
func (m *Metrics) Gone(check string) {
	for _, v := range []interface{ DeletePartialMatch(prometheus.Labels) int }{m.probes, m.transitions, m.committed, m.expired, m.ticks,
		m.sourceFaults, m.stageSeconds, m.probeSeconds, m.standby, m.uplinkDown, m.sources, m.sourceRead} {
		v.DeletePartialMatch(prometheus.Labels{"check": check})
	}
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Reader reads how the pool of a check stands.
type Reader func(ctx context.Context, check string) (Standing, error)
