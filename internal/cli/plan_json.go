package cli

import (
	"math"
	"time"

	"proxyward/scheduler/plan"
)

type plansJSON struct {
	OK       bool              `json:"ok"`
	Plans    []planJSON        `json:"plans"`
	Warnings []planWarningJSON `json:"warnings"` // of what the checks share
}

type planJSON struct {
	Check         string            `json:"check"`
	Endpoints     int               `json:"endpoints"`
	Counted       bool              `json:"counted"` // in the local lists
	Daemons       int               `json:"daemons"`
	LatencyMs     int64             `json:"latency_ms"`
	TimeoutMs     int64             `json:"timeout_ms"`
	MostEndpoints int               `json:"most_endpoints"`
	Rest          loadJSON          `json:"rest"`
	Worst         loadJSON          `json:"worst"`
	BurstProbes   float64           `json:"burst_probes"`
	Noticed       noticedJSON       `json:"noticed"`
	FirstMs       int64             `json:"first_ms"`
	Back          []backJSON        `json:"back"`
	Wait          []waitJSON        `json:"wait"`
	Memory        memoryJSON        `json:"memory"`
	Warnings      []planWarningJSON `json:"warnings"`
}

type loadJSON struct {
	ProbesPerS       float64    `json:"probes_per_s"`
	RequestsPerS     float64    `json:"requests_per_s"`
	MostRequestsPerS float64    `json:"most_requests_per_s"` // with the redirects it may follow
	Bound            plan.Bound `json:"bound"`
}

type noticedJSON struct {
	MeanMs       int64      `json:"mean_ms"`
	LongestMs    int64      `json:"longest_ms"`
	RecoveringMs int64      `json:"recovering_ms"`
	SilentMs     int64      `json:"silent_ms"`
	Bound        plan.Bound `json:"bound"`
}

type backJSON struct {
	Endpoints int   `json:"endpoints"`
	Ms        int64 `json:"ms"`
	SteadyMs  int64 `json:"steady_ms"`
}

type waitJSON struct {
	OutageMs  int64 `json:"outage_ms"`
	LongestMs int64 `json:"longest_ms"`
	OnceMs    int64 `json:"once_ms"`
	Trials    int   `json:"trials"`
}

type memoryJSON struct {
	NewBytes    int64 `json:"new_bytes"`
	GrownBytes  int64 `json:"grown_bytes"`
	FullBytes   int64 `json:"full_bytes"`
	JobsBytes   int64 `json:"jobs_bytes"`
	EventsBytes int64 `json:"events_bytes"`
}

type planWarningJSON struct {
	Code  string `json:"code"`
	Fatal bool   `json:"fatal"`
	What  string `json:"what"`
	Mend  string `json:"mend"`
}

func planJSONOf(name string, counted bool, p plan.Plan) planJSON {
	s, n := p.Settings, p.Notice
	out := planJSON{Check: name, Endpoints: s.Endpoints, Counted: counted, Daemons: s.Daemons, LatencyMs: ms(s.Latency),
		TimeoutMs: ms(s.Timeout), MostEndpoints: p.Most, Rest: loadOf(s, p.Rest), Worst: loadOf(s, p.Worst), BurstProbes: hundredths(p.Burst),
		Noticed: noticedJSON{ms(n.Mean), ms(n.Longest), ms(n.Recovering), ms(n.Silent), n.Bound},
		FirstMs: ms(p.First), Memory: memoryJSON{p.Memory.New, p.Memory.Grown, p.Memory.Full, p.Memory.Jobs, p.Memory.Events}, Warnings: planWarnings(p.Warnings)}
	for _, b := range p.Back {
		out.Back = append(out.Back, backJSON{b.Endpoints, ms(b.Growing), ms(b.Steady)})
	}
	for _, w := range p.Wait {
		out.Wait = append(out.Wait, waitJSON{ms(w.Outage), ms(w.Longest), ms(w.Once), w.Trials})
	}
	return out
}

func ms(d time.Duration) int64 { return d.Milliseconds() }

func loadOf(s plan.Settings, l plan.Load) loadJSON {
	return loadJSON{hundredths(l.PerSecond), hundredths(l.PerSecond * float64(s.Requests)), hundredths(l.PerSecond * float64(s.MostRequests)), l.Bound}
}

func hundredths(f float64) float64 { return math.Round(f*100) / 100 }

func planWarnings(list []plan.Warning) []planWarningJSON {
	out := []planWarningJSON{}
	for _, w := range list {
		out = append(out, planWarningJSON(w))
	}
	return out
}
