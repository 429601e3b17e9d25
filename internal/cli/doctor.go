package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"proxyward/store"
	"proxyward/store/health"
)

type doctorJSON struct {
	Redis    string           `json:"redis"`
	User     string           `json:"user"`
	Healthy  bool             `json:"healthy"` // nothing will hurt
	Findings []health.Finding `json:"findings"`
}

// clockWatch is how long the clocks of the servers are watched.
const clockWatch = time.Second

func (a *app) doctorCommand() *cobra.Command {
	var flags poolFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what about Redis and the pools would hurt, and what to do",
		Long: `Connects to Redis and says in plain words what would hurt: a policy that evicts keys,
nothing kept over a restart, an old version, memory near its limit, slow round trips, a user
without the rights it needs, clocks that leap, a replica, a cluster or sentinels in trouble,
pools that nobody serves. It changes nothing, and takes about a second.

Exit status 0 if nothing will hurt (there may be warnings), 1 if something will, 2 if Redis
cannot be reached.`,
		Example: `  proxyward doctor
  proxyward doctor --config /etc/proxyward/proxyward.yaml
  proxyward doctor --json | jq -r '.findings[] | select(.severity != "ok") | .what'`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withStore(cmd.Context(), func(ctx context.Context, s *session) error {
				return a.doctor(ctx, s, asJSON)
			})
		},
	}
	flags.addStore(c)
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) doctor(ctx context.Context, s *session, asJSON bool) error {
	facts, err := s.store.Examine(ctx, store.Looking{Checks: s.rechecks(), Watch: clockWatch})
	if err != nil {
		return err
	}
	findings := health.Judge(facts)
	healthy := health.Worst(findings) != health.Hurts
	if asJSON {
		err = a.printJSON(doctorJSON{s.place.name, userName(facts.User), healthy, findings})
	} else {
		err = printDoctor(a.out, a.style(), s.place.name, userName(facts.User), findings)
	}
	if err == nil && !healthy {
		return quietNo
	}
	return err
}

// rechecks are the recheck intervals of the configured checks; nil without a configuration.
func (s *session) rechecks() map[string]time.Duration {
	if s.config == nil {
		return nil
	}
	all := map[string]time.Duration{}
	for _, c := range s.config.Checks {
		all[c.Name] = c.Policy.Recheck
	}
	return all
}

func userName(user string) string {
	if user == "" {
		return "default"
	}
	return user
}
