package admin

import (
	"context"
	"net/http"
	"time"
)

// pingTime is how long Redis may take to answer somebody who asks whether it does.
const pingTime = 2 * time.Second

// healthz says whether the process lives and its scheduler ticks: what does not is to be
// started anew. Redis being away is no reason for that.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if s.Daemon.Stuck() {
		refuse(w, http.StatusServiceUnavailable, "no tick was completed for long: start the daemon anew; its log may say why")
		return
	}
	answer(w, map[string]string{"status": "ok"})
}

// readyz says whether the daemon can work: its configuration is loaded, or it would not
// run, and Redis answers.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	if s.stopping.Load() {
		refuse(w, http.StatusServiceUnavailable, "the daemon stops")
		return
	}
	select {
	case <-s.Daemon.Heard():
	default:
		refuse(w, http.StatusServiceUnavailable, "redis has not answered yet")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), pingTime)
	defer cancel()
	if s.Store.Ping(ctx) != nil {
		refuse(w, http.StatusServiceUnavailable, "redis does not answer")
		return
	}
	answer(w, map[string]string{"status": "ready"})
}
