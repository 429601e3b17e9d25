package admin

import (
	"context"
	"net/http"

	"proxyward/internal/operate"
)

// guardAnswer is whether the guard is open, and what it decides from.
type guardAnswer struct {
	operate.Guard
	Openings int64    `json:"openings"` // so far
	Eligible int64    `json:"eligible"`
	Last     []result `json:"last"` // newest first
}

// result is one of the last results of endpoints that were eligible when they were claimed.
type result struct {
	Endpoint string `json:"endpoint"`
	Result   string `json:"result"` // passed; target: failed by the target or by silence; failed
	AtMs     int64  `json:"at_ms"`
	Eligible bool   `json:"eligible"` // now
}

var kinds = map[string]string{"p": "passed", "t": "target", "f": "failed"}

func (s *Server) guard(ctx context.Context, r *http.Request) (any, error) {
	p, err := s.pool(ctx, r.PathValue("check"))
	if err != nil {
		return nil, err
	}
	v, err := p.Guard(ctx)
	if err != nil {
		return nil, err
	}
	a := guardAnswer{Openings: v.Opened, Eligible: v.Eligible, Last: []result{}}
	if a.Why = v.Why; v.OpenMs > 0 {
		a.Open, a.SinceMs = true, v.OpenMs
	}
	for _, one := range v.Last {
		a.Last = append(a.Last, result{one.ID, kinds[one.Kind], one.AtMs, one.In})
	}
	return a, nil
}
